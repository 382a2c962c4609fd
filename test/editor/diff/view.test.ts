import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually as equals } from "../../genuine/eventually";
import { lockFiles } from "../../genuine/lock-file";
import { Neovim } from "../../genuine/neovim";
import { claims } from "../../support/claims";
import { TestClient } from "../../support/client";
import { eventually } from "../../support/eventually";
import { NEOVIMS, type NeovimVersion } from "../../support/toolchain";

/* Diffs as a user sees them: Neovim in a terminal, a client at the executable's socket. */
const COLUMNS = 150;
const OLD = Array.from({ length: 40 }, (_, i) => `line ${i + 1};\n`).join("");
const NEW = OLD.replace("line 10;", "LINE 10;")
  .replace("line 20;\n", "")
  .replace("line 30;", "LINE 30;");

interface Desk extends AsyncDisposable {
  neovim: Neovim;
  path(name: string): string;
  connect(): Promise<TestClient>;
}

async function desk(version: NeovimVersion, columns: number, setup = "{}"): Promise<Desk> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "diff-screen-")));
  const project = join(root, "project");
  const home = join(root, "home");
  for (const folder of [project, join(home, "tmp"), join(home, "run")]) {
    await mkdir(folder, { recursive: true });
  }
  const path = (name: string) => join(project, name);
  for (const name of ["main.txt", "other.txt"]) await writeFile(path(name), OLD);
  const files = [path("main.txt")];
  const neovim = await Neovim.start({ version, project, home, files, setup, columns, rows: 44 });
  const lock = await eventually("the lock file", async () => {
    const [found] = await lockFiles(home);
    if (!found) throw new Error("not yet");
    return found;
  });
  return {
    neovim,
    path,
    connect: () => TestClient.open(lock, "claude-code"),
    async [Symbol.asyncDispose]() {
      await neovim.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function propose(client: TestClient, path: string, contents: string): Promise<string[]> {
  const paths = { old_file_path: path, new_file_path: path };
  return client.texts("openDiff", { ...paths, new_file_contents: contents, tab_name: path });
}

/** The rows, without what Neovim says in its last line. */
function rows(screen: string): string[] {
  return screen.trimEnd().split("\n").slice(0, 43);
}

describe.each(NEOVIMS)("on the screen of $name", (version) => {
  let d: Desk;
  let client: TestClient;
  let before: string;
  let round = 0;

  beforeAll(async () => {
    d = await desk(version, COLUMNS);
    client = await d.connect();
  });
  afterAll(async () => {
    client?.close();
    await d?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const { terminal } = d.neovim;
    await terminal.type(
      ":silent! tabonly | silent! only | edit! main.txt\r:vsplit other.txt | split | vertical resize 40 | wincmd t\r15Gzt",
    );
    // New each time, and not in these words while it is typed: an older screen must not pass for it.
    round++;
    await terminal.type(`:wincmd b | echo 'ready' ${round}\r`);
    before = await terminal.waitFor(`ready ${round}`);
  });

  const configure = (layout: string) =>
    d.neovim.lua(
      `vim.cmd("set diffopt${layout === "horizontal" ? "+" : "-"}=horizontal")
       local layout = "${layout === "horizontal" ? "vertical" : layout}"
       require("port").config.setup({ diff = { layout = layout } })
       return true`,
    );

  const restored = () => equals(async () => rows(await d.neovim.terminal.screen()), rows(before));

  /** What each layout looks like, by the rows of the screen. */
  const looks: [layout: string, isRight: (screen: string) => boolean][] = [
    ["vertical", (screen) => /line 10;.*LINE 10;/.test(screen)],
    [
      "horizontal",
      (screen) =>
        screen.indexOf("(on disk)") < screen.indexOf("line 10;") &&
        screen.indexOf("line 10;") < screen.indexOf("LINE 10;") &&
        !/line 10;.*LINE 10;/.test(screen),
    ],
    ["tab", (screen) => /^ .*main\.txt.*X$/m.test(screen) && /line 10;.*LINE 10;/.test(screen)],
    ["inline", (screen) => /\bline 10;[^\n]*\n[^\n]*\bLINE 10;/.test(screen)],
  ];
  test.each(looks)(
    "%s: seen, with its bar, and everything as before once answered",
    async (layout, isRight) => {
      await configure(layout);
      const answer = propose(client, d.path("main.txt"), NEW);
      const seen = await d.neovim.terminal.waitUntil(
        (screen) =>
          /main\.txt (\(proposed\) )? ?hunk 1\/3 .*q reject {2}<CR> accept/.test(screen) &&
          isRight(screen),
        `${layout} diff`,
      );
      expect(seen).not.toMatch(/E\d+:|Press ENTER/);
      await d.neovim.terminal.press("q");
      expect(await answer).toEqual(["DIFF_REJECTED", d.path("main.txt")]);
      await restored();
    },
  );

  test("an auto-save plugin that writes everything accepts nothing", async () => {
    claims("Only you accept an edit");
    const { terminal } = d.neovim;
    await d.neovim.lua(`
      _G.saves = 0
      _G.saver = vim.uv.new_timer()
      saver:start(0, 20, vim.schedule_wrap(function() saves = saves + 1 vim.cmd("silent! wall") end))
      return true`);
    for (const layout of ["vertical", "inline"]) {
      await configure(layout);
      const answer = propose(client, d.path("main.txt"), NEW);
      await terminal.waitFor("hunk 1/3");
      await terminal.type("GAmine");
      await terminal.press("Escape");
      const enough = (await d.neovim.lua<number>("return saves")) + 5;
      await eventually(
        "five saves",
        async () => (await d.neovim.lua<number>("return saves")) > enough,
      );
      await terminal.waitFor("hunk");
      await terminal.press("Enter");
      expect(await answer).toEqual(["FILE_SAVED", NEW.replace("line 40;", "line 40;mine")]);
    }
    await d.neovim.lua("saver:close() return true");
    await restored();
  });
});

describe.each(NEOVIMS)("in a narrow terminal, $name", (version) => {
  test("a diff comes inline, and says how to accept it", async () => {
    await using d = await desk(version, 52);
    using client = await d.connect();
    const { terminal } = d.neovim;
    const answer = propose(client, d.path("main.txt"), NEW);
    const wanted = [/\bline 10;[^\n]*\n[^\n]*\bLINE 10;/, /<CR> accept$/m];
    const isRight = (screen: string) => wanted.every((part) => part.test(screen));
    await terminal.waitUntil(isRight, `${wanted.join(", ")}`);
    await terminal.type("ga");
    await terminal.waitFor(/hunk 2\/3 .*<CR> accept 1 of 3 hunks$/m);
    await terminal.press("Enter");
    expect(await answer).toEqual(["FILE_SAVED", OLD.replace("line 10;", "LINE 10;")]);
  });
});

/** What the bars show in two windows side by side, by the columns of the screen. */
const widths: [columns: number, bars: RegExp][] = [
  [91, /^ main\.txt \(on disk\) +│ main\.txt {2}hunk 1\/3 .*q reject {2}<CR> accept$/],
  [
    140,
    /^ main\.txt \(on disk\) +│ main\.txt {2}hunk 1\/3 {2}\+2 −3 +ga gr {2}q reject {2}<CR> accept$/,
  ],
  [
    220,
    /│ main\.txt \(proposed\) {2}hunk 1\/3 {2}\+2 −3 +\]c \[c move {2}ga gr accept\/drop hunk {2}q reject {2}<CR> accept$/,
  ],
];
describe.each(NEOVIMS)("the bars of $name", (version) => {
  test.each(widths)("at %d columns: the key that accepts is cut last", async (columns, bars) => {
    await using d = await desk(version, columns);
    using client = await d.connect();
    const { terminal } = d.neovim;
    const answer = propose(client, d.path("main.txt"), NEW);
    const isRight = (screen: string) =>
      bars.test(
        screen
          .split("\n")
          .find((row) => row.includes("hunk 1/3"))
          ?.trimEnd() ?? "",
      );
    await terminal.waitUntil(isRight, `${bars}`);
    await terminal.type(":Claude diff reject\r");
    await answer;
  });
});
