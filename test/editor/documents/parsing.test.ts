import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { BOTH_NEOVIMS, claims, eventually, onBothNeovims, TestNeovim } from "#test";
import { join } from "../../../src/lib/platform";
import { answer, line } from "../../transcript/entries";

/* Text that crashes Neovim (SIGABRT) when its Markdown parser reads it. */
const STAIRS = Array.from({ length: 300 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n");
const TEXTS: [string, string][] = [
  ["quotes", ">".repeat(600)],
  ["quotes and lists", `${"> - 1.\t".repeat(200)}x`],
  ["numbers", `${"1. ".repeat(400)}x`],
  ["a list that is inserted line by line", STAIRS],
  ["a part of a line", `hello\r\r${">".repeat(400)}\nx`],
  ["a list that is inserted part by part", `x\r${STAIRS.replaceAll("\n", "\r")}`],
  ["a part in a code block", `\`\`\`markdown\na\r\r${">".repeat(400)}\n\`\`\``],
  ["a byte order mark", `\uFEFF${">".repeat(400)}`],
  ["a wrong table", `|a|\n---\nx|-|${">".repeat(400)}\n\nend`],
];
/** Common in users' configurations. */
const TREE_SITTER = `vim.api.nvim_create_autocmd("FileType", { pattern = "markdown",
  callback = function(args) vim.treesitter.start(args.buf, "markdown") end })`;
const ID = "6a14035a-a165-4b1f-a000-29d9e074ba4b";

onBothNeovims(
  (session) => {
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    const until = (text: string, where = "true") =>
      eventually("the text", async () =>
        expect(
          await lua<boolean>(
            `local last = ...
            return vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
              return vim.list_contains(vim.api.nvim_buf_get_lines(buf, 0, -1, false), last) and ${where}
            end)`,
            text.split("\n").at(-1),
          ),
        ).toBe(true),
      );
    const say = (text: string) => {
      const folder = join(session.neovim.home, ".claude/projects/-p");
      mkdirSync(folder, { recursive: true });
      appendFileSync(join(folder, `${ID}.jsonl`), line(answer(text)));
    };

    /** Opens a file that is on screen before Claude writes to it. */
    const opened = async (name: string, text: string | Buffer) => {
      const path = await session.open(name, text);
      await lua("vim.cmd.redraw()");
      return path;
    };
    const PLAN = `{ id = 7, plan = (...), session = 1, tool = "ExitPlanMode", title = "x", lines = {}, suggestions = {} }`;
    const WAYS: Record<string, (text: string) => unknown> = {
      "a plan": (text) => lua(`require("claude-code.permissions.plan").show(${PLAN})`, text),
      "a conversation that grows": async (text) => {
        say("**first**");
        await lua("require('port').transcript.open((...))", ID);
        await until("**first**");
        await lua("vim.cmd.redraw()");
        say(text);
      },
      "a file that is reloaded": async (text) =>
        writeFileSync(await opened("open.md", "# one\n"), `# one\n\n${text}\n`),
      "a proposal for an open file": async (text) =>
        void session.client.propose(await opened("proposed.md", "# one\n"), `# one\n\n${text}\n`),
      "a prompt": async (text) => {
        await session.neovim.command("Claude prompt");
        const set = "vim.cmd.redraw() vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)";
        await lua(set, text.split("\n"));
      },
      "a file that Claude opens": (text) =>
        session.client.call("openFile", { filePath: session.write("new.md", text) }),
      "a file of another encoding that is reloaded": async (text) => {
        const path = await opened("utf16.md", Buffer.from("\ufeff# one\n", "utf16le"));
        writeFileSync(path, Buffer.from(`\ufeff# one\n\n${text}\n`, "utf16le"));
      },
    };

    // Each text is used in at least one way.
    const cases = Object.entries(WAYS).flatMap(([way, show], i) =>
      TEXTS.filter((_, j) => i === 0 || j === i % TEXTS.length).map(
        ([name, text]) => [way, name, text, show] as const,
      ),
    );
    test.each(cases)("%s does not crash Neovim through %s", async (_way, _name, text, show) => {
      claims("No text that Claude writes ends Neovim");
      await session.reset();
      await lua(TREE_SITTER);
      await show(text);
      await until(text);
      await lua("vim.cmd.redraw()");
      await until(text, "not vim.treesitter.highlighter.active[buf]");
      await lua("vim.cmd.redraw() vim.cmd('silent! %bwipeout!')");
    });
  },
  { ui: { width: 80, height: 24 } },
);

describe.each(BOTH_NEOVIMS)("the parser of $name", (version) => {
  test("survives everything that it does not refuse", async () => {
    await using neovim = await TestNeovim.start({ version });
    const count = await neovim.lua<number>(`
      math.randomseed(1)
      local parsing, parsed = require("port").parsing, 0
      local PARTS = { ">", "> ", "- ", "1. ", "* ", "+\\t", "\\t", "  ", " ", "2) ", "x", "[ ] ", "\`\`\`", "# ",
        "\\r", "\\239\\187\\191", "\\0", "\\f", "|", "|a|", "---", "<div>", "[a]:" }
      for _ = 1, 1000 do
        local lines = {}
        for row = 1, math.random(40) do
          local line, one = {}, PARTS[math.random(#PARTS)]
          for i = 1, math.random(row * 8) do
            line[i] = math.random(4) == 1 and PARTS[math.random(#PARTS)] or one
          end
          lines[row] = table.concat(line)
        end
        if math.random(3) == 1 then
          vim.list_extend(lines, { "|a|", "---", "x|-|" .. lines[1] }) -- no table: an error to the parser
        end
        if not parsing.is_deep(lines) then
          vim.treesitter.get_string_parser(table.concat(lines, "\\n") .. "\\n", "markdown"):parse(true)
          parsed = parsed + 1
        end
      end
      return parsed`);
    expect(count).toBeGreaterThan(50);
  });
});
