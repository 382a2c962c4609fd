import { World } from "#review";
import { eventually, onEachNeovim } from "#test";

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
const FIRST = TEN.replace("line 2\n", "two\n");
const SECOND = FIRST.replace("line 5\n", "five\n");
const THIRD = SECOND.replace("line 9\n", "");

/** The user sees and decides about a turn of Claude's as a whole. */
onEachNeovim((session) => {
  let world: World;
  let tests = 0;
  const nvim = () => session.neovim;
  const at = (name: string) => `turn${tests}/${name}`;
  const read = (name: string) => world.read(at(name));
  const plays = (script: string) =>
    nvim().plays(
      script.replaceAll(/(?<!\^)@([\w./]+)/g, (_, name) => at(name)),
      {
        folder: world.path(at("")),
      },
    );
  const turn = (text: string, files: Record<string, string | undefined>) => {
    const prompt = world.prompt(`T${tests}`, text);
    const placed = Object.entries(files).map(([name, one]) => [at(name), one]);
    world.claude(Object.fromEntries(placed), { session: `T${tests}`, prompt });
    world.stop(`T${tests}`);
  };

  beforeAll(() => {
    world = new World(nvim().cwd, nvim().home);
  });
  afterAll(() => world[Symbol.dispose]());

  beforeEach(async () => {
    tests += 1;
    for (const name of ["a", "b"]) world.write(at(name), TEN);
    turn("rename two", { a: FIRST });
    turn("and five, too", { a: SECOND, b: SECOND });
    turn("drop nine", { a: THIRD, c: "new\n" });
  });
  afterEach(async () => {
    await nvim().lua("pcall(vim.cmd, 'silent! Claude review close') vim.cmd('silent! wall')");
    await world.service.answer("done", {});
    await eventually("the end", async () => (await world.list()).files.length === 0);
    await session.reset();
  });

  const title = "{getqflist({'title': 0}).title}";

  test("reviews a turn, by its number or the last one, and names it", async () => {
    await plays(`
      :Claude review! turn 2      list a:5 b:2 b:5    ${title} Claude's changes of turn 2 ‹and five, too›
      :Claude review! turn        list a:8 c:1        ${title} Claude's changes of turn 3 ‹drop nine›
      :Claude review! turn last   list a:8 c:1
      :Claude review! turn 1 @b   says Claude changed nothing there
      :Claude review turn 2       a:5   bar turn 2 ‹and five, too›
      :Claude review! turn 4      says this session has no turn 4: it has turns 1 to 3
      :Claude undo turn 0         says this session has no turn 0
      :Claude undo turn two       says a turn has a number, or is \`last\`, but not two
    `);
  });

  test("completes turns with their prompts", async () => {
    const completed = (line: string) =>
      nvim().lua<string[]>(`return vim.fn.getcompletion(..., "cmdline")`, line);
    const turns = ["last", "3:drop-nine", "2:and-five,-too", "1:rename-two"];
    expect(await completed("Claude undo turn ")).toEqual(turns);
    expect((await completed("Claude review turn 2")).slice(0, 1)).toEqual(["2:and-five,-too"]);
    await plays(":Claude review! turn 2:and-five,-too   list a:5 b:2 b:5");
  });

  test("undoes and keeps a turn as one decision, which :Claude back takes back", async () => {
    await plays(`
      :edit @a
      :Claude undo turn 2   disk b /^line 1\\|line 2\\|/   lines two|line 3|line 4|line 5|   says undid turn 2 ‹and five, too› in 2 files
      :Claude back          disk b two   lines two|line 3|line 4|five|   says took back what was undone in 2 files
      :Claude keep turn     says kept turn 3 ‹drop nine› in 2 files
      :Claude review!       list a:2 a:5 b:2 b:5
      :Claude keep turn     says nothing of turn 3 ‹drop nine› is left to keep
    `);
    expect(read("a")).toBe(THIRD);
  });

  test("opens a review of what later edits leave of an undone turn", async () => {
    world.write(at("a"), THIRD.replace("five", "FIVE of mine"));
    turn("rename two again", { b: SECOND.replace("two", "deux") });
    await plays(`
      :Claude undo turn 2   a:5   list a:5 b:2   disk b deux|line 3|line 4|line 5|   bar your edits conflict
      gr                    lines Now|
      gr                    disk a line 5|FIVE of mine|line 6   b:2   list b:2   bar later edits conflict
    `);
  });

  test("reviews the turn of a hunk or a row alone with gT, and then everything again", async () => {
    await plays(`
      :edit @a | Claude review   a:2   list a:2 a:5 a:8 b:2 b:5 c:1   bar turn 1
      ]c                         a:5   bar turn 2
      gT                         a:5   list a:5 b:2 b:5   ${title} Claude's changes of turn 2 ‹and five, too›
      gT                         a:5   list a:2 a:5 a:8 b:2 b:5 c:1
      :copen | 6                 {line('.')} 6
      gT                         quickfix:2   list a:8 c:1
      gT                         quickfix:6   list a:2 a:5 a:8 b:2 b:5 c:1
    `);
  });
});
