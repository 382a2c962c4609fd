import { claims, eventually, NEOVIMS, perBlock } from "#test";
import { call } from "../nvim-lsp/client";
import { later } from "../support/later";
import { LanguageProject, scripted } from "./world";

const FILES = {
  "defs.txt": "def alpha\n",
  "one.txt": "alpha\n",
  "two.txt": "alpha beta\ndef beta\n",
  "three.txt": "def delta\n",
  "shown.vim": '" A comment\nlet g:gamma = 1\n',
};

/** The names of buffers that the user has not opened. */
const HIDDEN = `
  local names = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and not vim.bo[buf].buflisted and vim.bo[buf].buftype == "" then
      table.insert(names, vim.fs.basename(vim.api.nvim_buf_get_name(buf)))
    end
  end
  table.sort(names)
  return names`;

describe.each(NEOVIMS)("files that language servers need with $name", (version) => {
  const servers = (project: LanguageProject["project"]) => ({
    text: scripted(project),
    vim: scripted(project),
  });
  const world = perBlock(() => LanguageProject.open(version, FILES, { servers }));
  const hidden = () => world.project.neovim.lua<string[]>(HIDDEN);

  beforeAll(() => world.project.neovim.command("syntax on"));

  test("starts no server for a file type that the user has not opened, and says so", async () => {
    claims("A file that Claude wrote starts no language server");
    const { neovim } = world.project;
    await neovim.lua(
      `local cmd, root = ...
      vim.filetype.add({ extension = { own = "own" } })
      vim.o.modeline = true
      vim.api.nvim_create_autocmd("FileType", {
        pattern = "own",
        callback = function(args)
          vim.lsp.start({ name = "own", cmd = cmd, root_dir = root }, { bufnr = args.buf })
        end,
      })`,
      scripted(world.project),
      world.project.folder,
    );
    world.project.write("seen.own", "def seen\n");
    const names = ["one.own", "note.zzz"];
    world.project.write("one.own", "def own\n");
    world.project.write("note.zzz", "def note\nvim: ft=own\n");
    const servers = () => neovim.lua<number>('return #vim.lsp.get_clients({ name = "own" })');
    const diagnostics = async () => {
      const { content } = await call(world.client, "get_diagnostics", { file_paths: names });
      return content.map(({ text }) => text);
    };
    const unseen =
      "No language server has seen one.own, note.zzz: the user has no file of that type open.";
    expect(await diagnostics()).toEqual(["{}", unseen]);
    for (const path of names) {
      const { text, isError } = await world.ask("outline", { path });
      expect([isError, text]).toEqual([
        true,
        expect.stringContaining("ask the user to open a file of this type"),
      ]);
    }
    expect(await servers()).toBe(0);
    await neovim.command("edit seen.own");
    expect(await diagnostics()).toEqual(["{}"]);
    for (const path of names) {
      expect((await world.ask("outline", { path })).text).toStartWith("own cannot list");
    }
    expect(await servers()).toBe(1);
    await neovim.command(`bwipeout seen.own ${names.join(" ")}`);
  });

  test("highlights a file once the user opens it", async () => {
    const { neovim } = world.project;
    await world.ask("outline", { path: "shown.vim" });
    expect(await hidden()).toEqual(["shown.vim"]);
    // Defining syntax items takes longer than everything else.
    expect(await neovim.lua('return vim.b[vim.fn.bufnr("shown.vim")].current_syntax')).toBeNull();
    await neovim.command("buffer shown.vim");
    const item = 'return vim.fn.synIDattr(vim.fn.synID(1, 3, true), "name")';
    expect(await neovim.lua(item)).toBe("vimLineComment");
    await neovim.command("bwipeout");
  });

  test("deletes a file ten minutes after the last question about it", async () => {
    const { neovim } = world.project;
    await world.call("find_symbol", { symbol: "alpha", path: "one.txt" });
    await world.call("find_symbol", { symbol: "beta", path: "two.txt" });
    expect(await hidden()).toEqual(["one.txt", "two.txt"]);
    await later(neovim, 9 * 60_000);
    await world.call("find_symbol", { symbol: "beta", path: "two.txt" });
    await later(neovim, 2 * 60_000);
    // The test cannot move the timer itself, but loading a file restarts it.
    await world.call("find_symbol", { symbol: "delta", path: "three.txt" });
    await eventually("what is old is gone", async () => {
      expect(await hidden()).toEqual(["three.txt", "two.txt"]);
    });
  });
});
