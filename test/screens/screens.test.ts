import { BOTH_NEOVIMS, NEWEST, type NeovimVersion, perBlock } from "#test";
import { join } from "../../src/lib/platform";
import { Attached } from "../editor/attached";
import { Screen } from "../support/screen";

/*
 * How diffs look: text, highlights and colours of the whole screen, as in the files beside this one.
 * They hold for one minor version of Neovim each, since every one draws a little differently.
 */
/** The oldest has diff mode and virtual lines: the rest is the same Lua. */
const REFERENCES: Record<string, RegExp> = {
  "0.10": /^(vertical|inline), 120 columns$/,
  "0.12": /./,
};
const ROWS = 24;
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"] as const;

/** Without the folder, which differs each time. */
const TABLINE = " tab page %{tabpagenr()} of %{tabpagenr('$')}";
/** `:cd` makes the names relative. */
const TWO_SPLITS = `vim.cmd("vsplit code.lua | wincmd p") vim.cmd.cd(vim.fn.getcwd())`;
/** The same as the CLI's. */
const terminal = (side: "right" | "below") => `
  local buf = vim.api.nvim_create_buf(false, true)
  local win = vim.api.nvim_open_win(buf, false, { split = "${side}", win = -1, width = 60, height = 10 })
  vim.o.eventignore = "TermOpen"
  vim.api.nvim_chan_send(vim.api.nvim_open_term(buf, {}), "Do you want to make this edit?\\r\\n> 1. Yes")
  vim.o.eventignore = ""
  vim.b[buf].claude_code_terminal = true
  vim.wo[win].winfixwidth = true
  vim.api.nvim_buf_set_name(buf, "claude-code://terminal")`;

const OLD = `${Array.from({ length: 40 }, (_, i) => `This is line ${i + 1} of the file.`).join("\n")}\n`;
/** A changed word, new lines, deleted lines, and many equal lines between them. */
const NEW = OLD.replace("line 3 of", "row 3 of")
  .replace(/^.*line 7 .*$/m, (line) => `${line}\nA line that is new.\nAnother one.`)
  .replace(/^.*line (30|31) .*\n/gm, "");
const CODE = `local M = {}\n\nfunction M.total(items)\n  local sum = 0 -- so far\n  for _, item in ipairs(items) do\n    sum = sum + item.price\n  end\n  return sum\nend\n\nreturn M\n`;
const NEW_CODE = CODE.replace("0 -- so far", "M.start()").replace("  end\n", "");

for (const version of BOTH_NEOVIMS) describe(version.name, () => screens(version));

function screens(version: NeovimVersion) {
  let screen: Screen;
  let minor: string;

  const a = perBlock(() => Attached.asNew({ version }));
  beforeAll(async () => {
    minor = await a.nvim.lua<string>("local v = vim.version() return v.major .. '.' .. v.minor");
    screen = await Screen.attach(a.nvim, 80, ROWS);
    await a.nvim.lua(
      `
      vim.opt.shortmess:append("FWI")
      vim.o.ruler = false
      vim.o.tabline = ...`,
      TABLINE,
    );
    a.file("main.txt", OLD);
    a.file("other/main.txt", OLD);
    a.file("code.lua", CODE);
    // A diff has tree-sitter's colours where a buffer has them.
    await a.edit(a.path("code.lua"));
    await a.edit(a.path("main.txt"));
    await a.attach();
  });

  interface Case {
    name: string;
    layout: string;
    columns?: number;
    file?: string;
    proposal?: string;
    /** Typed once the diff is on screen. */
    keys?: string;
    /** A second diff waits after it. */
    waiting?: string;
    /** Windows that are open before, with Neovim's own tab line. */
    windows?: string;
  }

  function shows({ name, layout, columns = 120, ...more }: Case) {
    test(name, async () => {
      if (!REFERENCES[minor]?.test(name)) {
        process.stdout.write(`platform skip: no reference screen of Neovim ${minor}\n`);
        return;
      }
      const path = a.path(more.file ?? "main.txt");
      await screen.resize(columns, ROWS);
      if (more.windows) await a.nvim.lua(`vim.o.tabline = ""\n${more.windows}`);
      await a.diffLayout(layout);
      // The number is part of the buffers' names.
      await a.propose(path, more.proposal ?? NEW, { id: 7 });
      await a.shown();
      if (more.waiting) await a.propose(a.path(more.waiting), NEW, { id: 8 });
      if (more.keys) await a.nvim.type(more.keys);
      try {
        await screen.matches(join(import.meta.dir, minor, `${name.replaceAll(/\W+/g, "-")}.txt`));
      } finally {
        await a.call("diff_close", { ids: [7, 8] });
        if (more.windows) await a.nvim.command("silent! bwipeout! claude-code://terminal");
        await a.cleared();
        await a.nvim.lua(
          "vim.cmd.edit('main.txt') vim.cmd('silent only | 1') vim.o.tabline = ...",
          TABLINE,
        );
      }
    });
  }

  for (const layout of LAYOUTS) shows({ name: `${layout}, 120 columns`, layout });
  if (version !== NEWEST) return;

  shows({ name: "vertical, 80 columns", layout: "vertical", columns: 80 });
  shows({ name: "inline, a hunk accepted", layout: "inline", keys: "ga" });
  const second = { waiting: "other/main.txt", keys: "]f" };
  shows({ name: "vertical, the second of two files of one name", layout: "vertical", ...second });
  shows({ name: "inline, code", layout: "inline", file: "code.lua", proposal: NEW_CODE });
  const created = { file: "new.txt", proposal: "a new\nfile\n" };
  shows({ ...created, name: "of a new file, 80 columns", layout: "vertical", columns: 80 });
  shows({
    name: "of two splits beside Claude's terminal, 160 columns",
    layout: "vertical",
    columns: 160,
    windows: `${TWO_SPLITS}\n${terminal("right")}`,
  });
  shows({
    name: "beside Claude's terminal, 80 columns",
    layout: "vertical",
    columns: 80,
    windows: terminal("below"),
  });
}
