import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { World } from "#review";
import { eventually, onEachNeovim, titledPlays } from "#test";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
const ONE_LINE = TEN.replaceAll("\n", "|");
const TWO = TEN.replace("line 2\n", "LINE 2\n").replace("line 8\n", "LINE 8\nand more\n");

/** The list of a review by files, and decisions about many files at once. */
onEachNeovim((session) => {
  let world: World;
  let tests = 0;
  const at = (name: string) => `f${tests}/${name}`;
  const nvim = () => session.neovim;
  const plays = (script: string) =>
    nvim().plays(
      script.replaceAll(/@([\w./]+)/g, (_, name) => at(name)),
      { folder: world.path(at("")) },
    );
  const claude = (files: Record<string, string | undefined>) => {
    const placed = Object.entries(files).map(([name, text]) => [at(name), text]);
    const call = { session: `F${tests}`, prompt: world.prompt(`F${tests}`, "tidy up") };
    world.claude(Object.fromEntries(placed), call);
    world.stop(`F${tests}`);
  };

  beforeAll(() => {
    world = new World(nvim().cwd, nvim().home);
  });
  afterAll(() => world[Symbol.dispose]());
  beforeEach(async () => {
    tests += 1;
    await nvim().lua(`
      vim.cmd.messages("clear")
      pcall(vim.cmd, "silent! Claude review close")
      vim.cmd("silent! wall | only | enew")
      vim.fn.setqflist({}, "f")
      require("port").review.current().list.is_by_file = false`);
    await world.service.answer("done", {});
    for (const name of ["a/one", "a/two", "b/c/gone"]) world.write(at(name), TEN);
    claude({ "a/one": TWO, "a/two": TWO, "b/c/gone": undefined, "b/c/new": "new\n", top: "1\n" });
  });

  const folded = "{range(1, line('$'))->filter('foldclosed(v:val) == v:val')}";

  describe("by files", () => {
    test.each(
      titledPlays(`
      # shows folders with their files, keeps the cursor's entry, and goes back to hunks
      :Claude review!   list 7   {&buftype} quickfix
      :4
      gL                list 8   quickfix:4   {foldlevel(4)} 2
                        lines /^@\\|\\| \\+8 -14 5 files\\| a\\/\\|\\| \\+6 -4 2 files\\| one\\|2\\| \\+3 -2 2 hunks turn 1 ‹tidy up› Edit\\|/
                        lines /\\| b\\/c\\/\\|\\| \\+1 -10 2 files\\| gone\\|1\\| \\+0 -10 deleted turn 1 Edit\\| new\\|1\\| \\+1 -0 new file turn 1/
                        lines /\\| top\\|1\\| \\+1 -0 new file turn 1 Edit$/
      gL                list 7   quickfix:3   {foldlevel(4)} 0
      :Claude review close | call setqflist([#{text: 'mine'}]) | copen
                        {&foldexpr} 0   {&foldlevel} 0

      # decides about all files of a folder at once, and takes that back
      :Claude review!   list 7   {&buftype} quickfix
      gL                list 8
      2Gga              list 5   quickfix:3   disk a/one LINE 2
      gB                list 8   says took back what was kept in 2 files
      2Ggr              list 5   disk a/one = ${ONE_LINE}   disk a/two = ${ONE_LINE}
      gB                list 8   disk a/one LINE 2   disk a/two and more
      1GgA              says none of Claude's changes is left

      # decides about a file with all its hunks
      :Claude review!   list 7   {&buftype} quickfix
      gL                list 8
      3Gga              list 7   quickfix:3   line two
      3Ggr              list 5   disk a/two = ${ONE_LINE}
      3Ggr              list 4   disk b/c/gone = ${ONE_LINE}

      # moves past folders, opens the first hunk of a file, and shows folders as what they are
      :Claude review!   list 7   {&buftype} quickfix
      gL                list 8
      gg]c              quickfix:3   windows one quickfix
      ]f                quickfix:4
      ]c                quickfix:6
      :3cc              one:2
      :cnext            two:2
      :cnext            {&buftype} nofile   entry 6
      :copen | 2        {&buftype} quickfix
      gW                says this buffer shows no file

      # keeps folders closed while their files are decided elsewhere, and decides about a closed one
      :Claude review!   list 7   {&buftype} quickfix
      gL                list 8
      4Gzc6Gzc          ${folded} [2, 5]
      :wincmd p | edit @a/one | Claude keep!
                        list 7
      :wincmd p         ${folded} [2, 4]
      :copen            ${folded} [2, 4]
      :5 | normal ga    list 4   disk b/c/new new
      gB                list 7

      # acts on the rows that a filter has left, and shows all of them in the other form
      :packadd cfilter | Claude review!   list 7   {&buftype} quickfix
      gL                list 8
      :Cfilter a/       list 2
      :1                line one
      Vjgr              says ! conflict   list 5   disk a/one = ${ONE_LINE}
      gB                list 8
      :Cfilter top      list 1
      gL                list 7   quickfix:7
    `),
    )("%s", async (_, script) => {
      await plays(script.replaceAll("^@", `^f${tests}\\/`));
    });

    test("has one tree in a folder inside the project, and decides about what is drawn below a row", async () => {
      claude({ "odd|dir/x": "1\n" });
      await plays(`
        :lcd @b/c | Claude review!   list 8   {&buftype} quickfix
        gL          list 10   lines /\\/f${tests}\\/\\|\\| \\+9 -14 6 files\\| a\\/\\|\\|.*two.*new.*top\\|1/
        8Gzc        ${folded} [8]
        :8          quickfix:8
        ga          list 8   disk top = 1|
        2Ggr        list 5   disk a/one = ${ONE_LINE}
        :execute 'cd' getcwd(-1) | wincmd p | execute 'cd' getcwd(-1)   list 5`);
    });

    test("keeps no more than the hunk at the cursor by :cdo, also of unloaded files", async () => {
      await plays(`
        :Claude review! @a       list 4   {&buftype} quickfix
        gL                       list 3
        :set nohidden | silent cdo Claude keep   says
        :set hidden`);
      await eventually("five hunks", async () => (await world.list()).counts.hunks === 5);
    });
  });

  test("says once that a session edits what another running one changed, and names both", async () => {
    const sessions = join(nvim().home, ".claude/sessions");
    mkdirSync(sessions, { recursive: true });
    const runs = { pid: process.pid, sessionId: `F${tests}`, status: "busy" };
    writeFileSync(join(sessions, `${process.pid}.json`), JSON.stringify(runs));
    const [path, content] = [at("a/one"), world.content(TWO)];
    const announces = (session: string) =>
      world.record({ type: "seen", session, use: session, path, content });
    const says = (session: string) =>
      `says ${session} is about to edit @a/one, where you have not reviewed what F${tests} changed`;
    await plays(":Claude review!   list 7   {&buftype} quickfix");
    [`F${tests}`, "Other"].forEach(announces);
    await plays(`<Ignore>   ${says("Other")}`);
    ["Other", "Third"].forEach(announces);
    world.claude({ [path]: `${TWO}more\n` }, { session: "Third" });
    await plays(`
      <Ignore>   ${says("Third")}   {execute('messages')->split('\\n')->filter('v:val =~ "is about"')->len()} 2
      gL         lines one|2| +4 -2 3 hunks F${tests}, Third Edit`);
    rmSync(join(sessions, `${process.pid}.json`));
    announces("Fourth");
    world.claude({ [at("new")]: "1\n" }, { session: `F${tests}` });
    await plays("<Ignore>   list 9   says ! Fourth");
  });

  describe("alike", () => {
    const rename = (text: string) => text.replaceAll("line", "row");
    beforeEach(async () => {
      await world.service.answer("done", {});
      const text = "a line here\n\nline(line)\n\nother\n";
      for (const name of ["x", "y", "z"]) world.write(at(name), `${name}\n${text}`);
      claude({
        x: rename(`x\n${text}`),
        y: rename(`y\n${text}`).replace("other", "another"),
        z: `z\n${text.replace("line", "column")}`,
      });
      await nvim().lua(`
        vim.ui.select = function(items, options, done)
          _G.asked = options.prompt
          done(items[_G.answer])
        end`);
    });

    test.each([
      ["keeps", 1, "row"],
      ["undoes", 2, "line"],
    ])("%s the hunks of a rename in all files, and no others", async (_, answer, word) => {
      await nvim().lua("_G.answer = ...", answer);
      await plays(`
        :Claude review!   list 6   {&buftype} quickfix
        2Gg=              list 2   disk x /a ${word} here.*${word}\\(${word}\\)/
                          disk y /a ${word} here.*${word}\\(${word}\\).*another/   disk z column
                          {luaeval('_G.asked')} Claude changed line → row: 4 hunks in 2 files
        gB                list 6   disk y /a row here.*row\\(row\\)/`);
    });

    test("asks from a file, decides nothing without an answer, and says that no hunk is there", async () => {
      await nvim().lua("_G.answer, _G.asked = 3, nil");
      world.write(at("more"), "one\n");
      world.write(at("blank"), "other  \n");
      claude({ more: "one\ntwo\n", blank: "other\n", new: "1\n" });
      await plays(`
        :edit @y | Claude review   list 9
        :edit @y | 6
        g=                {luaeval('_G.asked')} Claude changed other → another: 1 hunk in 1 file
        :edit @more | 2   lines one
        g=                {luaeval('_G.asked')} Claude added two: 1 hunk in 1 file
        :edit @blank | 1  lines other
        g=                {luaeval('_G.asked')} Claude changed white space: 1 hunk in 1 file
        :edit @new
        g=                says only a hunk of a changed file has lines to compare
        :edit @y
        :5 | Claude review alike   says no hunk by Claude is waiting for review here   list 9`);
    });
  });
});
