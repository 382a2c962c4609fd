import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { isolatedEnv } from "../support/neovim";
import { TSCONFIG, TYPESCRIPT, TYPESCRIPT_OPTIONS } from "../support/typescript";
import { Editor, type Standstill } from "./editor";
import { repetitions, type Scenario, type Values } from "./scenario";
import { quantile } from "./statistics";

const FILES = 400;
/** Uses of `common` in each file but the first; of `single` there are a dozen. */
const USES = 5;
const SINGLE = 12;
const CALLS = 40;
const DEFINITION = "src/file0.ts";

/**
 * The user's servers, as a configuration starts them. What is asked of a server that is younger than
 * half a minute is asked twice, with a pause: here it counts as old.
 */
const SERVE = `
  local cmd, options, root = ...
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "typescript",
    callback = function(args)
      vim.lsp.start({ name = "typescript", cmd = cmd, init_options = options, root_dir = root }, { bufnr = args.buf })
    end,
  })
  vim.cmd.edit(root .. "/src/file0.ts")
  package.loaded["claude-code.editor.language.servers"] = nil
  require("claude-code.editor.language.servers").is_young = function() return false end`;

/** The time that the server itself takes, as Neovim's own client sees it. */
const SERVER_MS = `
  local method, symbol = ...
  local buf = vim.fn.bufnr("src/file0.ts")
  local row = vim.fn.matchstrlist and 0 or 0
  for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local at = line:find(symbol, 1, true)
    if at then
      local began = vim.uv.hrtime()
      local answers = vim.lsp.buf_request_sync(buf, method, {
        textDocument = { uri = vim.uri_from_bufnr(buf) },
        position = { line = i - 1, character = at - 1 },
        context = { includeDeclaration = true },
      }, 20000)
      local _, answer = next(answers or {})
      return { ms = (vim.uv.hrtime() - began) / 1e6, count = answer and #(answer.result or {}) or 0 }
    end
  end`;

/** A question to the user's language servers, from Claude's request to its answer. */
export const languageTools: Scenario = {
  name: "language-tools",
  floor: async () => ({}),
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    using _ = await editor.setUp(subject);
    const { nvim } = editor;
    writeProject(nvim.cwd);
    await nvim.lua(SERVE, TYPESCRIPT, TYPESCRIPT_OPTIONS, nvim.cwd);
    const client = await connect(subject.hook, nvim.cwd, isolatedEnv(nvim.home));
    try {
      const ask = async (symbol: string) => {
        const began = performance.now();
        const args = { symbol, path: DEFINITION };
        const { content } = await client.callTool({ name: "find_references", arguments: args });
        const text = (content as { text: string }[])[0]?.text ?? "";
        return { text, ms: performance.now() - began };
      };
      const server = (symbol: string) =>
        nvim.lua<{ ms: number; count: number }>(SERVER_MS, "textDocument/references", symbol);
      await ready(async () => (await ask("common")).text.includes(`: ${USES * (FILES - 1)} use`));
      const values: Values = {};
      const floors: Values = {};
      for (const [id, symbol] of [
        ["references", "single"],
        ["references-many", "common"],
      ] as const) {
        const own: number[] = [];
        const times: number[] = [];
        const still: Standstill[] = [];
        await ask(symbol);
        for (let i = 0; i < repetitions(machine, CALLS); i++) {
          own.push((await server(symbol)).ms);
          still.push(await editor.watched(async () => times.push((await ask(symbol)).ms)));
        }
        floors[`${id}-p50`] = quantile(own, 0.5);
        values[`${id}-p50`] = quantile(times, 0.5);
        values[`${id}-p95`] = quantile(times, 0.95);
        values[`${id}-still`] = quantile(still.map(({ longest }) => longest), 0.5);
      }
      return { values, floors };
    } finally {
      await client.close();
    }
  },
};

async function ready(test: () => Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 60_000; !(await test()); ) {
    if (Date.now() > limit) throw new Error("the language server knows no uses after a minute");
    await Bun.sleep(500);
  }
}

async function connect(
  program: string,
  cwd: string,
  env: Record<string, string>,
): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: program, args: ["mcp"], cwd, env });
  await client.connect(transport as never);
  return client;
}

function writeProject(folder: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "tsconfig.json"), TSCONFIG);
  const first = "export function common(value: number): number {\n  return value;\n}\n";
  const other = "export function single(value: number): number {\n  return value;\n}\n";
  writeFileSync(join(folder, DEFINITION), first + other);
  for (let i = 1; i < FILES; i++) {
    const isUser = i < SINGLE;
    const names = isUser ? "common, single" : "common";
    const lines = [`import { ${names} } from "./file0";`];
    for (let use = 1; use < USES; use++) {
      lines.push(`export function user${i}x${use}(): number {`);
      lines.push(`  // What other${use} of these functions is for.`);
      lines.push(`  return common(${use}) + ${use};`, "}", "");
    }
    if (isUser) lines.push("export const one = single(1);");
    for (let line = 0; line < 60; line++) {
      lines.push(`export const constant${line} = "text of ${i} and of ${line}";`);
    }
    writeFileSync(join(folder, `src/file${i}.ts`), `${lines.join("\n")}\n`);
  }
  Bun.spawnSync(["git", "init", "-q"], { cwd: folder });
}
