import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { call, connect } from "../../test/nvim-lsp/client";
import { eventually } from "../../test/support/eventually";
import { languageServer } from "../../test/support/lsp-stdio";
import { isolatedEnv, type TestNeovim } from "../../test/support/neovim";

const FILES = 60;
const AT_ONCE = 5;

/** A server for the files of one folder. */
const SERVE = `
  local cmd, folder = ...
  vim.filetype.add({ extension = { txt = "text" } })
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "text",
    callback = function(args)
      if vim.startswith(vim.api.nvim_buf_get_name(args.buf), folder) then
        vim.lsp.start({ name = "soak", cmd = cmd, root_dir = folder }, { bufnr = args.buf })
      end
    end,
  })`;

/** Releases the files that were loaded for a question, as happens after ten minutes. */
const AGE = `
  local now = vim.uv.now
  vim.uv.now = function() return now() + 600000 end`;

/** The number of buffers that the user did not open. */
const HIDDEN = `
  return #vim.tbl_filter(function(buf)
    return not vim.bo[buf].buflisted and vim.api.nvim_buf_get_name(buf):find("/words/", 1, true) ~= nil
  end, vim.api.nvim_list_bufs())`;

/** Claude's questions to the user's language servers, and its changes through them. */
export class Languages implements AsyncDisposable {
  private constructor(
    readonly neovim: TestNeovim,
    readonly client: Client,
  ) {}

  static async open(neovim: TestNeovim): Promise<Languages> {
    const folder = join(neovim.cwd, "words");
    mkdirSync(folder);
    const switches = join(neovim.home, "switches");
    mkdirSync(switches);
    for (let i = 0; i < FILES; i++) {
      const uses = `name${(i + 1) % FILES} common\n# name${i} in a comment\n`;
      writeFileSync(join(folder, `${i}.txt`), `def name${i}\n${uses}`);
    }
    await neovim.lua(SERVE, [...languageServer(switches), folder], folder);
    return new Languages(neovim, await connect(neovim.cwd, isolatedEnv(neovim.home)));
  }

  get pid(): number {
    return (this.client.transport as StdioClientTransport).pid ?? 0;
  }

  /** Calls all tools in turn, several at once. A refusal is also an answer. */
  async ask(count: number): Promise<void> {
    let asked = 0;
    const work = async () => {
      while (asked < count) await this.#question(asked++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // Give the symbol its old name again.
    await this.#rename("other", "name0");
  }

  async #question(i: number): Promise<void> {
    const at = { symbol: `name${i % FILES}`, path: `words/${i % FILES}.txt` };
    const questions: [string, object][] = [
      ["find_references", at],
      ["find_symbol", at],
      ["outline", { path: at.path }],
      ["code_action", { path: at.path, line: 1 }],
      ["find_symbol", { symbol: "nowhere", path: at.path }],
    ];
    const [tool, args] = questions[i % questions.length] as [string, object];
    await call(this.client, tool, args);
    if (i % 10 === 0) await this.#rename("name0", "other");
    if (i % 10 === 5) await this.#rename("other", "name0");
  }

  #rename(symbol: string, new_name: string): Promise<unknown> {
    return call(this.client, "rename_symbol", { path: "words/0.txt", symbol, new_name });
  }

  /** Waits until Neovim has released all files but the one of this question. */
  async age(): Promise<void> {
    await this.neovim.lua(AGE);
    // Loading a file makes Neovim check the others. A file that is already loaded would not.
    const path = `words/asked-${crypto.randomUUID()}.txt`;
    writeFileSync(join(this.neovim.cwd, path), "def new\n");
    await call(this.client, "outline", { path });
    await eventually("hidden files to be released", async () => {
      return (await this.neovim.lua<number>(HIDDEN)) <= 1;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}
