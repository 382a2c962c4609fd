import { writeFileSync } from "node:fs";
import { claims, eventually, NEOVIMS, perBlock, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { Editor } from "./editor";

/* A plan as a document, without a CLI; test/genuine/plan.test.ts has that. */
const PLAN = "# Plan\n\n1. do it\n";
const KEPT = `return vim.fn.getbufline(vim.fn.getbufinfo({ bufmodified = 1 })[1].bufnr, 1, "$")`;
const ASKED = {
  tool_name: "ExitPlanMode",
  tool_input: { plan: PLAN, planFilePath: join(temporaryFolder(), "a.md") },
};
beforeEach(() => writeFileSync(ASKED.tool_input.planFilePath, PLAN));

describe.each(NEOVIMS)("a plan in Neovim $name", (version) => {
  const lua = <T>(code: string, ...args: unknown[]) => editor.neovim.lua<T>(code, ...args);
  const name = () => lua<string>("return vim.fs.dirname(vim.api.nvim_buf_get_name(0))");
  const isShown = () => eventually("the plan", async () => (await name()) === "claude-code://plan");
  /** One command line after the other. */
  const keys = async (typed: string) => {
    for (const one of typed.split(/(?<=<CR>)(?=:)/))
      await lua("vim.api.nvim_feedkeys(vim.keycode((...)), 'mx', false)", one);
  };
  const approves = async (way = ASK) => {
    await keys("<CR>");
    await lua("choose(...)", way);
  };

  const editor = perBlock(() => Editor.start(version, { isOn: false }));
  beforeAll(async () => {
    await lua(`INPUT_OF_NEOVIM = vim.ui.input
      vim.ui.input = function(_, callback) callback(INPUT) end`);
  });
  let n: number;
  let output: Promise<unknown>;
  let before: unknown;
  const windows = () =>
    lua(`return { vim.fn.winlayout(), vim.fn.bufnr(), vim.fn.winsaveview(), vim.fn.bufnr("#"),
      vim.bo.bufhidden }`);
  beforeEach(async () => {
    await lua("vim.cmd('silent! %bwipeout!') vim.cmd.edit('a.txt')");
    before = await windows();
    n = await editor.block();
    output = editor.hook(ASKED, n);
    await isShown();
  });
  afterEach(() => editor.reset());

  const ASK = "Approve, and ask before each edit";
  const EDIT = "Approve, and let Claude edit without asking";
  const LONGER = `${PLAN}2. and test\n`;
  test.each([
    ["as it is", "", ASK, PLAN, "default", PLAN],
    ["whose file has changed since", "", ASK, PLAN.trimEnd(), "default", "# Evil\n"],
    ["as it was edited", "Go2. and test<Esc>", EDIT, LONGER, "acceptEdits", PLAN],
  ])("approved %s", async (_name, typed, way, plan, mode, inFile) => {
    claims("Only the plan that you saw is approved");
    writeFileSync(ASKED.tool_input.planFilePath, inFile);
    await keys(typed);
    await approves(way);
    expect(await output).toEqual({
      behavior: "allow",
      updatedInput: { ...ASKED.tool_input, plan },
      updatedPermissions: [{ type: "setMode", mode, destination: "session" }],
    });
    await eventually("the earlier windows", async () => expect(await windows()).toEqual(before));
  });

  test("names its keys in the bar and with g?", async () => {
    await editor.neovim.plays(`
      <Ignore>   bar g?
      g?         lines |<CR> Approve the plan|
      q          bar g?
    `);
    await approves();
    await output;
  });

  test("sends comments on lines, also on one that moved; without any asks for a reason", async () => {
    await editor.neovim.command("Claude comment");
    await editor.says("gC comments on a line of a plan");
    await lua("INPUT = 'why?'");
    await keys("ggVGgC");
    await lua("INPUT = ''");
    await keys("gggC");
    await lua("INPUT = 'why?'");
    await keys("3GgCggOnew<Esc>q");
    expect(await output).toEqual({
      behavior: "deny",
      message:
        'My comments on the plan:\n1. on "1. do it": why?\n' +
        "The plan as I would have it:\n\nnew\n# Plan\n\n1. do it",
    });
    output = editor.hook(ASKED, await editor.block());
    await isShown();
    await lua("INPUT = 'smaller steps'");
    await keys("Q");
    expect(await output).toEqual({ behavior: "deny", message: "smaller steps" });
  });

  test("shows hidden characters and many blanks as marks, and conceals nothing", async () => {
    claims("Invisible characters are shown as codes");
    await editor.report(n, "working");
    await output;
    await lua("vim.o.conceallevel = 2");
    const tag = String.fromCodePoint(0xe0063, 0xe0075);
    const plan = `# Plan\n\n1. fix${tag}\n2. see\u{3164}[a](b)\n3. do${"\u{3000}".repeat(60)}; rm`;
    output = editor.hook({ ...ASKED, tool_input: { plan } }, await editor.block());
    await isShown();
    const marks = `return vim.tbl_map(function(mark) return mark[4].virt_text[1][1] end,
      vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("claude-code.hidden"), 0, -1, { details = true }))`;
    // In 0.10 characters of that kind have a cell each.
    const codes = (await lua<string[]>(marks)).join("");
    expect(codes).toBe("<e0063><e0075><3164><60 blanks>");
    expect(await lua("return { vim.wo.conceallevel, vim.go.conceallevel }")).toEqual([0, 2]);
    expect(await lua<string>("return vim.wo.winbar")).toContain("hidden characters, line 3");
    await lua("vim.o.conceallevel = 0");
  });

  test("shows what is new in a later version, and names it so, until one is approved", async () => {
    const next = async (plan: string, seen: string, answers = () => keys("q")) => {
      await output;
      const tool_input = { ...ASKED.tool_input, plan };
      writeFileSync(tool_input.planFilePath, plan);
      output = editor.hook({ ...ASKED, tool_input, session_id: "s" }, await editor.block());
      await isShown();
      await editor.neovim.plays(`<Ignore>   ${seen}`);
      await answers();
    };
    await lua("INPUT = 'smaller steps'");
    await keys("q");
    await next(PLAN, "bar ! version   screen ! + 1.");
    await next(
      "# Plan\n\n0. look\n1. do all\n",
      "bar a plan, version 2   screen |- 1. do it |+ 0. look |+ 1. do all |",
    );
    await next(PLAN, "bar version 3   screen |- 1. do all |+ 1. do it |", approves);
    await next("# Another\n", "bar ! version   screen ! + #", approves);
  });

  test("takes a typed comment on lines that are selected", async () => {
    await lua("OURS, vim.ui.input = vim.ui.input, INPUT_OF_NEOVIM");
    await editor.neovim.plays(`
      ggVGgC     mode c
      why?<CR>   mode n
    `);
    await lua("vim.ui.input = OURS");
    await keys("q");
    expect(await output).toEqual({
      behavior: "deny",
      message: 'My comments on the plan:\n1. on "# Plan": why?',
    });
  });

  test.each([
    ["undo", "u"],
    ["a reload", ":edit!<CR>"],
    ["a deleted buffer", ":bdelete!<CR>:Claude answer<CR>"],
    ["a wiped buffer", ":bwipeout!<CR>:Claude answer<CR>"],
    ["a closed window", ":copen<CR>:wincmd p<CR>:quit<CR>:Claude answer<CR>"],
  ])("loses nothing by %s, and its keys work", async (_name, typed) => {
    await keys(typed);
    await isShown();
    await editor.neovim.plays("<Ignore>  lines = # Plan||1. do it");
    await approves();
    expect(await output).toMatchObject({ behavior: "allow" });
  });

  test("gets half of the rows that it shares with Claude's terminal below it", async () => {
    await editor.report(n, "working");
    await output;
    await lua(`local buf = vim.api.nvim_create_buf(false, true)
      vim.api.nvim_buf_call(buf, function() vim.fn.termopen("cat") end)
      vim.b[buf].claude_code_terminal = true
      require("port").window.show(buf)
      vim.cmd.wincmd("p")`);
    const rows = () => lua<number>("return vim.api.nvim_win_get_height(0)");
    const before = await rows();
    output = editor.hook(ASKED, await editor.block());
    await isShown();
    expect(before).toBeLessThan(10);
    expect(await rows()).toBeGreaterThanOrEqual(10);
    await keys(":enew<CR>");
    expect(await rows()).toBe(before);
  });

  const BESIDE = ":rightbelow 20vsplit other.txt<CR>:wincmd p<CR>";
  test.each([
    ["the last window", "", [":quit<CR>", "GoMore<Esc>ZZ"]],
    ["a window beside another", BESIDE, [":wq<CR>", ":close<CR>"]],
  ])("gives its place to the file in %s", async (_, typed, ways) => {
    const shown = `return vim.tbl_map(function(win)
      return { vim.fn.bufname(win.bufnr), win.width, win.height, vim.fn.bufname("#") }
    end, vim.fn.getwininfo())`;
    await keys(":edit before.txt<CR>:edit a.txt<CR>");
    await keys(typed);
    const files = await lua(shown);
    for (const left of ways) {
      await keys(":Claude answer<CR>");
      await isShown();
      await keys(left);
      await eventually("the files", async () => expect(await lua(shown)).toEqual(files));
    }
  });

  test("is not approved when empty; waits when its window is closed", async () => {
    await keys("ggdG<CR>");
    await editor.says("the plan is empty");
    await keys("u");
    await keys(":copen<CR>:wincmd p<CR>:quit<CR>");
    await editor.says("the plan waits; :Claude answer shows it");
    await editor.report(n, "working");
    await output;
  });

  test("does not decide on writing and closing; :Claude answer shows it again, as edited", async () => {
    claims("Only you answer Claude's questions");
    await keys("Gomine<Esc>:write<CR>");
    await editor.says("this write decided nothing");
    await keys(":enew<CR>");
    expect(await name()).not.toBe("claude-code://plan");
    await editor.neovim.command("Claude answer");
    await isShown();
    await editor.neovim.plays("<Ignore>  {getline('$')} mine");
    await editor.report(n, "working");
    expect(await output).toBeUndefined();
    await eventually("its end", async () => (await name()) !== "claude-code://plan");
    await editor.says("Claude no longer asks: your version of the plan is in buffer");
    expect(await lua(KEPT)).toEqual([
      ...["The plan as I would have it:", "", "# Plan", "", "1. do it", "mine"],
    ]);
  });

  const PROMPT = "vim.cmd.edit('claude-code://prompt/9') vim.bo.buftype = 'acwrite'";
  test.each([
    ["type", "vim.cmd.startinsert()", "vim.cmd.stopinsert()"],
    ["think about a prompt", PROMPT, "vim.cmd.edit('a.txt')"],
  ])("disturbs no one while they %s, and appears then", async (_name, begin, end) => {
    await editor.report(n, "working");
    await eventually("its end", async () => (await name()) !== "claude-code://plan");
    await lua(begin);
    await editor.neovim.inMode(begin.includes("startinsert") ? "i" : "n");
    const next = await editor.block();
    output = editor.hook(ASKED, next);
    await editor.wait();
    await Bun.sleep(300);
    expect(await name()).not.toBe("claude-code://plan");
    await lua(end);
    await isShown();
    await editor.report(next, "idle");
    await output;
  });
});
