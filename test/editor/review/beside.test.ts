import { World } from "#review";
import { eventually, onEachNeovim, titledPlays } from "#test";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
const CHANGED = TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n");

/** The changes of a review to the windows of a tab page. */
const OPTIONS = `
  local names = { "conceallevel", "cursorbind", "diff", "foldcolumn", "foldenable", "foldlevel", "foldmethod",
    "scrollbind", "signcolumn", "winbar", "winhighlight", "wrap" }
  local found = { vim.go.scrollopt, vim.go.diffopt, vim.fn.bufnr('claude-code://before'), vim.fn.foldclosed(5), vim.fn.winrestcmd() }
  for _, name in ipairs(names) do table.insert(found, tostring(vim.wo[name])) end
  return table.concat(found, " ")`;

/** A file of a review beside its text from before. */
onEachNeovim((session) => {
  let world: World;
  const nvim = () => session.neovim;
  const plays = (script: string) => nvim().plays(script);
  const options = () => nvim().lua<string>(OPTIONS);

  beforeEach(async () => {
    world = new World(nvim().cwd, nvim().home);
    await nvim().lua(`vim.fn.setqflist({}, "f")`);
    await nvim().command("set columns=120 lines=30");
    world.edited("a", TEN, CHANGED);
    world.edited("b", TEN, CHANGED);
  });
  afterEach(async () => {
    await nvim().command(
      "silent! Claude review close | silent! Claude review done | set columns=80",
    );
    await eventually("the end", async () => (await world.list()).files.length === 0);
    await session.reset();
    world[Symbol.dispose]();
  });

  test("shows the text from before, and keys work on both sides", async () => {
    await plays(`
      :Claude review   a:2   windows a quickfix   bar hunk 1/2
      gs               a:2   windows a a quickfix   {&diff} 1   bars (before)   bar hunk 1/2   screen line 2
      <Ignore>         {getwininfo(win_getid(1))[0].textoff == getwininfo(win_getid(2))[0].textoff} 1
      <C-w>h           lines line 8|line 9   {&modifiable} 0   {&swapfile} 0   {line('.')} 2
      ]c               a:8   {winnr()} 2
      <C-w>h           {line('.')} 8
      g?               mode n
      :fclose!         {line('.')} 8
      gr               b:2   windows b b quickfix   {&diff} 1   list 3   disk a /line 8/
      ga               b:8   list 2
      gs               b:8   windows b quickfix   {&diff} 0
      gs               b:8   windows b b quickfix
      :wincmd j        windows b b quickfix
      gg:cc 1<CR>      a:2   windows a a quickfix
    `);
  });

  test.each([
    ["a resize", "vim.o.columns = 70"],
    ["the end of the review", "require('claude-code.editor.review.decide').done()"],
  ])("waits for the end of the command-line window after %s", async (_, code) => {
    await plays(`
      :Claude review   a:2   windows a quickfix
      gs               {&diff} 1
      q:               {getcmdwintype()} :
    `);
    await nvim().lua(`vim.schedule(function() ${code} end)`);
    await Bun.sleep(50);
    await plays(":quit   {getcmdwintype()}   {&diff} 0   {bufnr('claude-code://before')} -1");
    expect(await nvim().lua<string>("return vim.v.errmsg")).toBe("");
    await plays(":Claude review close   {&diff} 0");
    // Waits until the changes are gone: otherwise the `done` of afterEach() could reach those of the next test.
    world.edited("c", TEN, CHANGED);
  });

  test.each([
    ["marks", 2, 10],
    ["does not mark", 20, 600],
  ])("%s changed words in a hunk of %d lines of %d words", async (verb, lines, words) => {
    const text = (word: string) => `${word} ${"x ".repeat(words)}\n`.repeat(lines);
    world.edited("a", text("old"), text("new"));
    await plays(":Claude review   a:1");
    await nvim().until("the lines", `return #vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {}) > 0`);
    const marks = await nvim().lua<number>(`
      return #vim.tbl_filter(function(mark)
        return mark[4].hl_group == "ClaudeCodeAddText"
      end, vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true }))`);
    expect(marks).toBe(verb === "marks" ? lines : 0);
  });

  test("draws the lines that a closed fold brings on screen", async () => {
    const text = Array.from({ length: 400 }, (_, i) => `line ${i + 1}\n`).join("");
    world.edited("a", text, text.replaceAll("0\n", "0!\n"));
    await plays(`
      :Claude review   a:10
      :13,355fold      screen + line 360!
    `);
  });

  test("keeps both sides at the same row when a decision is taken back", async () => {
    const text = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
    const more = text.replace("line 8\n", "line 8\nmore\n");
    world.edited("a", text, more.replace("line 40\n", "LINE 40\n").replace("line 50\n", ""));
    await plays(`
      :Claude review   a:9   windows a quickfix
      gs               {&diff} 1
      ]c               a:41  screen line 40 │ LINE 40
      ga               a:50  screen line 49 │ line 49
      gr               b:2
      gB               a:50  windows a a quickfix   screen line 49 │ line 49
      gB               a:41  screen line 40 │ LINE 40
    `);
  });

  test("ends when the text from before is wiped out", async () => {
    await plays(`
      :Claude review   a:2   windows a quickfix
      gs               {&diff} 1
      :bwipeout! claude-code://before   {&diff} 0   windows a quickfix
      gs               {&diff} 1   windows a a quickfix
    `);
    expect(await nvim().lua<string>("return vim.v.errmsg")).toBe("");
  });

  test("appears at once if diff.layout was set, and again for the next file", async () => {
    await nvim().lua(`require("claude-code").setup({ diff = { layout = "vertical" } })`);
    await plays(`
      :Claude review     windows a a quickfix   {&diff} 1
      ]f                 b:2   windows b b quickfix   {&diff} 1
      :set columns=70    windows b quickfix     {&diff} 0
      :set columns=120   windows b quickfix
      ]f                 a:2   windows a a quickfix
    `);
    await nvim().lua(`require("claude-code").setup()`);
  });

  test("stays closed if its window is closed in a review that replaced another", async () => {
    await nvim().lua(`require("claude-code").setup({ diff = { layout = "vertical" } })`);
    await plays(`
      :Claude review   windows a a quickfix   {&diff} 1
      :Claude review   windows a a quickfix   {&diff} 1
      <C-w>h           {&modifiable} 0
      :quit            windows a quickfix     {&diff} 0
      ]c               a:8   windows a quickfix
    `);
    await nvim().lua(`require("claude-code").setup()`);
  });

  const ENDS = titledPlays(`
    # the key
    gs                      {&diff} 0
    # the end of the review
    :Claude review close    {&diff} 0
    # another file
    ]f                      b:2   windows b b quickfix
    [f                      a:8   windows a a quickfix
    gs                      windows a quickfix
    # another buffer
    :enew                   windows unnamed quickfix
    :buffer a               windows a a quickfix
    :Claude review close
    # :q in the other window
    <C-w>h:q<CR>            windows a quickfix
    # CTRL-W o
    <C-w>o                  windows a
    # CTRL-W o in the other window
    <C-w>h<C-w>o            windows a
    # a narrow screen
    :set columns=70         windows a quickfix
    :Claude review close | set columns=120
    # a split
    :split                  windows 4
    gs                      windows a a quickfix   {&diff} 0
    <C-w>c                  windows a quickfix
    # a tab page
    :tabnew | tabclose      windows a a quickfix
    gs                      {&diff} 0`);
  test.each(ENDS)("leaves nothing behind after %s", async (_, rows) => {
    await nvim().command("edit a | 4,6fold | 2");
    await plays(":Claude review   a:2   windows a quickfix   bar hunk 1/2");
    await plays(":Claude review close   {&winbar} =");
    const before = await options();
    await plays(":Claude review   a:2   windows a quickfix   bar hunk 1/2");
    await plays("gs   windows a a quickfix   {&diff} 1   {foldclosed(5)} -1");
    await plays(rows);
    await plays(":silent! Claude review close | silent! cclose   {&winbar} =   windows a");
    expect(await options()).toBe(before);
  });

  test("closes both sides and the file's window with :q, and keeps both if it fails", async () => {
    await plays(`
      :Claude review   a:2   windows a quickfix   bar hunk 1/2
      gs               windows a a quickfix
      :cclose          windows a a
      ix<Esc>:q<CR>    windows a a   {&diff} 1   says No write
      <CR>u            {&modified} 0
      :copen           windows a a quickfix
      <C-w>k<C-w>l:q<CR>   windows quickfix
    `);
  });
});
