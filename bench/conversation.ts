import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../test/support/eventually";
import { answer, calls, line, prompt, result } from "../test/transcript/entries";
import { Editor } from "./editor";
import { repetitions, type Scenario } from "./scenario";

const ID = "6a14035a-a165-4b1f-a000-29d9e074ba4b";
const BYTES = 50_000_000;
const FILES = 5_000;

/** A conversation of 50 MB: shown, growing, and its prompt completed. */
export const conversation: Scenario = {
  name: "conversation",
  floor: async () => ({}),
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    const folder = join(nvim.home, ".claude/projects/-p");
    const path = join(folder, `${ID}.jsonl`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, long());
    using _ = await editor.setUp(subject);
    const shown = () => nvim.lua<boolean>("return vim.bo.filetype == 'markdown'");
    const open = async () => {
      const began = performance.now();
      await nvim.lua(`require("claude-code.editor.transcript").open("${ID}")`);
      while (!(await shown()));
      return performance.now() - began;
    };
    // The first one loads Neovim's own files for Markdown.
    await open();
    await nvim.command("bwipeout");
    const times: number[] = [];
    const stills: number[] = [];
    for (let i = 0; i < repetitions(machine, 5); i++) {
      const found = await editor.watched(async () => void times.push(await open()));
      stills.push(found.longest);
      if (i < repetitions(machine, 5) - 1) await nvim.command("bwipeout");
    }
    const filled = await editor.watched(() =>
      eventually("all of it that is shown", () =>
        nvim.lua<boolean>("return vim.api.nvim_buf_line_count(0) > 15000"),
      ),
    );
    const entry: number[] = [];
    for (let i = 0; i < repetitions(machine, 10); i++) {
      const began = performance.now();
      appendFileSync(path, line(answer(`entry ${i} of it`)));
      while (
        !(await nvim.lua<boolean>(
          `return vim.api.nvim_buf_get_lines(0, -3, -2, true)[1] == "entry ${i} of it"`,
        ))
      );
      entry.push(performance.now() - began);
    }
    return {
      values: {
        "conversation-shown": Math.min(...times),
        "conversation-still": Math.min(...stills),
        "conversation-filled": filled.longest,
        "conversation-entry": Math.min(...entry),
        "prompt-completion": await completion(editor, repetitions(machine, 10)),
      },
    };
  },
};

/** Among some thousand files, until the items are there. */
async function completion({ nvim }: Editor, times: number): Promise<number> {
  for (let i = 0; i < FILES; i++) {
    const folder = join(nvim.cwd, `src/part${i % 50}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file${i}.ts`), "");
  }
  await nvim.command("Claude prompt");
  const all = await nvim.lua<number[]>(
    `
    local client, times = vim.lsp.get_clients({ bufnr = 0, name = "claude-code-prompt" })[1], {}
    for i = 1, ... do
      local line = "see @file" .. i
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { line })
      local began, items = vim.uv.hrtime(), nil
      client:request("textDocument/completion", {
        textDocument = { uri = vim.uri_from_bufnr(0) },
        position = { line = 0, character = #line },
      }, function(_, found) items = found end, 0)
      vim.wait(5000, function() return items end, 1)
      times[i] = (vim.uv.hrtime() - began) / 1e6
    end
    return times`,
    times,
  );
  return Math.min(...all);
}

function long(): string {
  const output = Array.from({ length: 100 }, (_, i) => `${i}: some output of a command`).join("\n");
  const parts: string[] = [];
  for (let bytes = 0, turn = 0; bytes < BYTES; turn++) {
    const entries = [
      prompt(`Ask ${turn}`),
      ...Array.from({ length: 8 }, (_, i) => [
        answer(`**Text** ${"of some words ".repeat(60)}\n\n- one\n- two\n`),
        calls(`${turn}-${i}`, "Bash", { command: `make part${i}` }),
        result(`${turn}-${i}`, output, { stdout: output }),
      ]).flat(),
    ];
    const text = entries.map(line).join("");
    bytes += text.length;
    parts.push(text);
  }
  return parts.join("");
}
