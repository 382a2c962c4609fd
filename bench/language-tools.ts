import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { isolatedEnv } from "../test/support/neovim";
import { TSCONFIG, TYPESCRIPT, TYPESCRIPT_OPTIONS } from "../test/support/typescript";
import { Editor } from "./editor";
import { repetitions, type Scenario, type Values } from "./scenario";
import { quantile } from "./statistics";

const FILES = 400;
/** Uses of `common` in each file but the first; of `single` there are a dozen. */
const USES = 5;
const SINGLE = 12;
const CALLS = 40;
const LOADED = 40;
const RENAMES = 20;
const DEFINITION = "src/file0.ts";

/**
 * The user's servers, as a configuration starts them. What is asked of a server that is younger than
 * half a minute is asked twice, with a pause: here it counts as old.
 */
const SERVE = `
  local cmd, options, root = ...
  vim.cmd("filetype plugin indent on | syntax on")
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "typescript",
    callback = function(args)
      vim.lsp.start({ name = "typescript", cmd = cmd, init_options = options, root_dir = root }, { bufnr = args.buf })
    end,
  })
  vim.cmd.edit(root .. "/src/file0.ts")
  require("port").attached_servers.is_young = function() return false end`;

/** The question to the server alone, by Neovim's own client. */
const SERVER = `
  local method, symbol = ...
  local buf = vim.fn.bufnr("src/file0.ts")
  for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local at = line:find(symbol, 1, true)
    if at then
      vim.lsp.buf_request_sync(buf, method, {
        textDocument = { uri = vim.uri_from_bufnr(buf) },
        position = { line = i - 1, character = at - 1 },
        context = { includeDeclaration = true },
        newName = "renamed",
      }, 20000)
    end
  end`;

const LOAD = "vim.fn.bufload(vim.fn.bufadd(...))";

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
      const call = async (name: string, args: object) => {
        const { content } = await client.callTool({ name, arguments: { ...args } });
        return (content as { text: string }[])[0]?.text ?? "";
      };
      const ask = (symbol: string) => call("find_references", { symbol, path: DEFINITION });
      const uses = USES * (FILES - 1);
      await ready(async () => (await ask("common")).includes(`: ${uses} use`));
      const values: Values = {};
      const floors: Values = {};
      for (const [id, symbol] of Object.entries({
        references: "single",
        "references-many": "common",
      })) {
        const calls = repetitions(machine, CALLS);
        const own = await watched(editor, calls, () =>
          nvim.lua(SERVER, "textDocument/references", symbol),
        );
        const ours = await watched(editor, calls, () => ask(symbol));
        Object.assign(floors, figures(id, own));
        Object.assign(values, figures(id, ours));
      }
      let file = SINGLE;
      const next = () => `src/file${++file}.ts`;
      const files = repetitions(machine, LOADED);
      const loads = await watched(editor, files, () => nvim.lua(LOAD, join(nvim.cwd, next())));
      floors["hidden-still"] = figures("hidden", loads)["hidden-still"] as number;
      const outlines = await watched(editor, files, () => call("outline", { path: next() }));
      values["hidden-still"] = figures("hidden", outlines)["hidden-still"] as number;
      const rename = { path: DEFINITION, symbol: "common", new_name: "renamed", preview: true };
      const renames = repetitions(machine, RENAMES);
      const own = await watched(editor, renames, () =>
        nvim.lua(SERVER, "textDocument/rename", "common"),
      );
      floors["rename-still"] = figures("rename", own)["rename-still"] as number;
      const ours = await watched(editor, renames, () => call("rename_symbol", rename));
      values["rename-still"] = figures("rename", ours)["rename-still"] as number;
      return { values, floors };
    } finally {
      await client.close();
    }
  },
};

interface Watched {
  times: number[];
  still: number[];
}

async function watched(
  editor: Editor,
  calls: number,
  work: () => Promise<unknown>,
): Promise<Watched> {
  const times: number[] = [];
  const still: number[] = [];
  await work();
  for (let i = 0; i < calls; i++) {
    const { longest } = await editor.watched(async () => {
      const began = performance.now();
      await work();
      times.push(performance.now() - began);
    });
    still.push(longest);
  }
  return { times, still };
}

/** The least standstill counts: what another program took from a call, it took from Neovim, too. */
function figures(id: string, { times, still }: Watched): Values {
  return {
    [`${id}-p50`]: quantile(times, 0.5),
    [`${id}-p95`]: quantile(times, 0.95),
    [`${id}-still`]: Math.min(...still),
  };
}

async function ready(test: () => Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 60_000; !(await test()); ) {
    if (Date.now() > limit) throw new Error("the language server knows no uses after a minute");
    await Bun.sleep(500);
  }
}

async function connect(program: string, cwd: string, env: Record<string, string>): Promise<Client> {
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
