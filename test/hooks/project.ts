import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import {
  eventually,
  isolatedEnv,
  type NeovimOptions,
  type NeovimVersion,
  stateFolderOf,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { dirname, join } from "../../src/lib/platform";
import { type HookResult, runHook } from "../support/hook";
import { TYPESCRIPT_OPTIONS } from "../support/typescript";

/** Marks each line that says ERROR, WARN, INFO or HINT, a moment after the text is read. */
const LINTER = `
  local namespace = vim.api.nvim_create_namespace("marks")
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FileChangedShellPost" }, {
    callback = vim.schedule_wrap(function(args)
      if not vim.api.nvim_buf_is_loaded(args.buf) then return end
      local items = {}
      for i, line in ipairs(vim.api.nvim_buf_get_lines(args.buf, 0, -1, false)) do
        for _, name in ipairs({ "ERROR", "WARN", "INFO", "HINT" }) do
          local col = line:find(name, 1, true)
          if col then
            table.insert(items, { lnum = i - 1, col = col - 1, message = line, source = "marks",
              severity = vim.diagnostic.severity[name] })
          end
        end
      end
      vim.diagnostic.set(namespace, args.buf, items)
    end),
  })`;

/** The user has an open file of each type, which its server does not know. */
export const OPENED = `
  vim.o.eventignore = "FileType"
  for filetype in pairs(servers) do
    vim.bo[vim.api.nvim_create_buf(true, false)].filetype = filetype
  end
  vim.o.eventignore = ""`;

interface StopOutput {
  decision?: string;
  reason?: string;
  continue?: true;
  systemMessage?: string;
}

/** A project that is open in a real Neovim, and the hooks of a Claude that works there. */
export class Project implements AsyncDisposable {
  private constructor(
    readonly neovim: TestNeovim,
    readonly folder: string,
  ) {}

  /** `again` starts another Neovim of the same user in the same project. */
  static async open(
    version: NeovimVersion,
    setup = "{}",
    again?: Project,
    ui?: NeovimOptions["ui"],
  ): Promise<Project> {
    const folder = again?.folder ?? temporaryFolder();
    const home = again && { home: again.neovim.home };
    const neovim = await TestNeovim.start({
      version,
      cwd: folder,
      setup,
      ...home,
      ...(ui && { ui }),
    });
    await neovim.lua(LINTER);
    const project = new Project(neovim, folder);
    await eventually("the registry", () => project.registered().length > 0);
    // The executable is in the registry a moment before Neovim follows what is written.
    const attached = "return require('port').channel.is_attached()";
    await neovim.until("the executable", attached);
    return project;
  }

  /** The registry's entries of this user. */
  registered(): string[] {
    const folder = join(this.state, "neovims");
    return [...new Bun.Glob("*.json").scanSync({ cwd: folder })];
  }

  get state(): string {
    return stateFolderOf(this.neovim.home);
  }

  get log(): string {
    return readFileSync(join(this.state, "hooks.log"), "utf8");
  }

  /** Whether a file of this name is in the folder of the review. */
  reviewed(name: string): boolean {
    return [...new Bun.Glob(`review/*/${name}`).scanSync({ cwd: this.state })].length > 0;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** Starts a language server for each buffer of these file types: its command, or its configuration. */
  async serve(servers: Record<string, string[] | object>): Promise<void> {
    await this.neovim.lua(
      `local servers, options, root = ...
      vim.filetype.add({ extension = { txt = "text" } })
      vim.api.nvim_create_autocmd("FileType", {
        pattern = vim.tbl_keys(servers),
        callback = function(args)
          local given = servers[args.match]
          local own = { name = args.match, init_options = options[args.match], root_dir = root }
          local config = vim.tbl_extend("keep", given.cmd and given or { cmd = given }, own)
          vim.lsp.start(config, { bufnr = args.buf })
        end,
      })
      ${OPENED}`,
      servers,
      { typescript: TYPESCRIPT_OPTIONS },
      this.folder,
    );
  }

  hook(
    event: string,
    input: object | string = {},
    env: Record<string, string> = {},
  ): Promise<HookResult> {
    const given = { session_id: "one", cwd: this.folder, ...(typeof input === "object" && input) };
    return runHook({
      event,
      input: typeof input === "string" ? input : given,
      cwd: this.folder,
      env: { ...isolatedEnv(this.neovim.home), ...env },
    });
  }

  /** Claude writes a file, and its hook runs. */
  edit(name: string, text: string, more: object = {}): Promise<HookResult> {
    this.write(name, text);
    return this.edited(this.path(name), more);
  }

  edited(path: string, more: object = {}): Promise<HookResult> {
    const tool = { tool_name: "Edit", tool_input: { file_path: path } };
    return this.hook("post-tool-use", { ...tool, tool_response: { type: "update" }, ...more });
  }

  async stop(more: object = {}): Promise<StopOutput> {
    const { output } = await this.hook("stop", { stop_hook_active: false, ...more });
    return output as never;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.neovim[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
