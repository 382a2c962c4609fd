import { basename, join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { call as callServer } from "../../test/nvim-lsp/client";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import type { TestNeovim } from "../../test/support/neovim";

/** The target. Counts how often its executable was killed. */
export interface Target {
  neovim: TestNeovim;
  lock: Awaited<ReturnType<TestNeovim["lock"]>>;
  random: Random;
  kills: number;
  /** The server nvim-lsp of a CLI in the folder. */
  server: Client;
  called: string;
}

/** Files in Neovim's folder. The private ones contain `SECRET`, which no answer may contain. */
export const SECRET = "very-secret-value";
export const FILES: Record<string, string> = {
  ".env": SECRET,
  "keys/id_rsa": SECRET,
  "data.csv": "1,2,3\n".repeat(1_000),
  ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`closed/${i}.lua`, "return 1\n"])),
};

/** Neovim has two files open: one with many lines, and one with a long line. */
export const OPEN_FILES: Record<string, string> = {
  "open/lines.txt": "some words of a lïne\n".repeat(300_000),
  "open/line.txt": `${"a".repeat(100_000)}b\n`,
};

/** Random numbers from a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

/** Resolves to a sentence about a failure, or to undefined. */
type Try = (target: Target) => Promise<string | undefined>;

/** The plugin gives up after five restarts in a minute. */
const MAX_KILLS = 3;
const ANSWER_MS = 2_000;
/** Neovim first loads files that are not open. */
const LOAD_MS = 10_000;

const NAMES = [
  ...["`touch PWNED`", "`=writefile([],'PWNED')`", "$(touch PWNED)", "#(touch PWNED)", "%", "#1"],
  ...["|!touch PWNED", "+!touch PWNED", "--cmd=q", "~", "$HOME", "[a]", "*", "a\nb", "\u202Ex"],
  ...[".env/", "..", "/proc/self/mem", "x".repeat(255), "d/".repeat(1_000), "\u009B201~", ""],
  ...[".env", "keys/../.env//", "keys/id_rsa/.", "closed/1.lua", "closed//2.lua", "data.csv"],
  // Around 4,096 bytes, the limit of a path, and far above.
  ...["d/".repeat(2_000), `${"/.".repeat(1_900)}/.env`, "x/../".repeat(800), "ü".repeat(128)],
  ...["/d".repeat(2_040), "d/".repeat(20_000), "x".repeat(100_000), "../".repeat(300_000)],
];
const TOOLS = [
  ...["openFile", "saveDocument", "checkDocumentDirty", "getDiagnostics", "close_tab", "openDiff"],
  ...["getOpenEditors", "closeAllDiffTabs", "constructor", "__proto__"],
];

async function call(target: Target): Promise<string | undefined> {
  const { neovim, lock, random } = target;
  using client = await TestClient.open(lock);
  const path = join(neovim.cwd, random.of(NAMES));
  const name = random.of([path, random.of(NAMES)]);
  // A bigger text takes longer, whatever the path.
  const contents = random.of(NAMES).slice(0, 4_096);
  const args = {
    ...{ filePath: name, uri: `file://${name}`, tab_name: name, startText: random.of(NAMES) },
    ...{ old_file_path: name, new_file_path: name, new_file_contents: contents },
  };
  const tool = random.of(TOOLS);
  target.called = `${tool} of ${name.length} characters, ${JSON.stringify(name.slice(0, 60))}`;
  const answered = client.call(tool, args).then(JSON.stringify, String);
  // openDiff waits for the user. The client disconnects.
  if (tool === "openDiff") return void (await Bun.sleep(20));
  const answer = await Promise.race([answered, Bun.sleep(ANSWER_MS).then(() => undefined)]);
  return problemWith(answer, target.called);
}

const LINES = [1, 500, 5_000, 20_000, 64_000, 200_000];

/** Contents of lines that are slow, for example for the search for hidden characters or for columns. */
const FILLERS = ["y", "y", "y", "\t", "\u034F", "\u202E", "é", "f(1, "];

/** A proposal of up to 5 MB, with many lines, many hunks, long lines, or slow highlighting. */
async function proposal(target: Target): Promise<string | undefined> {
  const { neovim, lock, random } = target;
  const width = random.of([1, 8, 40, 200, 3_000, 20_000, 240_000, 1_000_000]);
  const most = Math.ceil(Math.min(5_000_000 / width, random.of(LINES)));
  const filler = random.of(FILLERS);
  const line = (i: number) => `local v${i} = f("`.padEnd(width, filler).concat('")\n');
  const before = Array.from({ length: most }, (_, i) => line(i)).join("");
  const [from, to] = random.of<[RegExp, string]>([
    [/local/g, "global"],
    [/0 = /g, "0 == "],
    [/v7 /, "v8 "],
    [/.*\n/g, ""],
  ]);
  const path = join(
    neovim.cwd,
    random.of(["big.lua", "big.c", "big.txt", "big.json", "big.md", "big.css"]),
  );
  await Bun.write(path, random.of([before, ""]));
  using client = await TestClient.open(lock);
  const paths = { old_file_path: path, new_file_path: path, tab_name: "big" };
  const contents = before.replace(from, to);
  target.called = `a proposal of ${most} lines of ${width} ${JSON.stringify(filler)}, ${from} by ${to}, ${basename(path)}`;
  client.call("openDiff", { ...paths, new_file_contents: contents }).catch(() => {});
  await Bun.sleep(300);
  return undefined;
}

/** A tool of nvim-lsp, with one path or many. */
async function lsp(target: Target): Promise<string | undefined> {
  const { neovim, server, random } = target;
  const name = () => random.of([...NAMES, ...Object.keys(FILES)]);
  const path = random.of([name(), join(neovim.cwd, name()), `file://${neovim.cwd}/${name()}`]);
  const many = Array.from({ length: random.below(70) }, () => `closed/${random.below(70)}.lua`);
  const [tool, args] = random.of<[string, object]>([
    ["get_diagnostics", { file_paths: path }],
    ["get_diagnostics", { file_paths: [path, name(), name()] }],
    ["get_diagnostics", { file_paths: many }],
    ["get_diagnostic_context", { file_path: path, line: 1 + random.below(20) }],
    ["get_diagnostic_summary", {}],
    ["find_symbol", { symbol: random.of(NAMES), path }],
    ["find_symbol", { symbol: name(), line: random.below(5_000) }],
    ["find_references", { symbol: name(), path, within: random.of(NAMES) }],
    ["outline", { path }],
    ["rename_symbol", { path, symbol: name(), new_name: random.of(NAMES) }],
    ["rename_symbol", { path, new_name: `moved/${random.of(NAMES)}` }],
    ["code_action", { path, line: 1, action: name() }],
    ["editor_buffers", { include_special: true }],
    ["editor_context", { lines_before: 1_000, lines_after: 1_000 }],
  ]);
  target.called = `${tool} with ${JSON.stringify(args).slice(0, 80)}`;
  const answered = callServer(server, tool, args).then(JSON.stringify, String);
  const answer = await Promise.race([answered, Bun.sleep(LOAD_MS).then(() => undefined)]);
  return problemWith(answer, target.called);
}

function problemWith(answer: string | undefined, called: string): string | undefined {
  if (answer === undefined) return `${called}: no answer`;
  return answer.includes(SECRET) ? `${called} leaks` : undefined;
}

const SEARCHED = ["lïne\nsome", "not in it", `${"a".repeat(9_999)}b`, "a".repeat(10_000)];

/** A call about a big open file, while the user moves and selects in it. */
async function bigFile(target: Target): Promise<string | undefined> {
  const { neovim, lock, random } = target;
  const path = join(neovim.cwd, random.of(Object.keys(OPEN_FILES)));
  using client = await TestClient.open(lock);
  await neovim.command(`silent buffer ${path}`);
  const keys = random.of(["gg", "G", "ggVG", "50%", "ox<Esc>", "gg0v$"]);
  await neovim.type(keys);
  const searched = { startText: random.of(SEARCHED), endText: random.of(SEARCHED) };
  const [name, ask] = random.of<[string, () => Promise<unknown>]>([
    ["openFile", () => client.call("openFile", { filePath: path, ...searched })],
    ["resources/read", () => client.request("resources/read", { uri: `file://${path}` })],
    ["editor/buffers", () => client.request("editor/buffers")],
    ["editor/context", () => client.request("editor/context")],
    ["editor/position", () => client.request("editor/position")],
    ["editor/selection", () => client.request("editor/selection")],
    ["getCurrentSelection", () => client.call("getCurrentSelection")],
    ["checkDocumentDirty", () => client.call("checkDocumentDirty", { filePath: path })],
  ]);
  target.called = `${name} of ${basename(path)} after ${keys}`;
  const answered = ask().then(JSON.stringify, String);
  const answer = await Promise.race([answered, Bun.sleep(LOAD_MS).then(() => undefined)]);
  await neovim.type("<Esc>");
  return problemWith(answer, target.called);
}

/** Hundreds of diffs of a client that then disconnects. */
async function manyDiffs(target: Target): Promise<string | undefined> {
  const { neovim, lock, random } = target;
  const count = random.of([50, 500, 1_500]);
  target.called = `${count} diffs`;
  using client = await TestClient.open(lock);
  for (let i = 0; i < count; i++) {
    const path = join(neovim.cwd, `new-${i}.txt`);
    const paths = { old_file_path: path, new_file_path: path, tab_name: path };
    client.call("openDiff", { ...paths, new_file_contents: "x\n" }).catch(() => {});
  }
  await Bun.sleep(random.below(400));
  return undefined;
}

async function kill(target: Target): Promise<string | undefined> {
  const { neovim } = target;
  const status = () =>
    neovim.lua<{ state: string; process_id?: number }>(`return require("claude-code").status()`);
  const { process_id: pid } = await status();
  if (!pid) return undefined;
  if (target.kills++ >= MAX_KILLS) {
    process.kill(pid, "SIGSTOP");
    await Bun.sleep(target.random.below(30));
    process.kill(pid, "SIGCONT");
    return undefined;
  }
  process.kill(pid, "SIGKILL");
  await eventually("the next executable", async () => {
    const now = await status();
    return now.state === "ready" && now.process_id !== pid;
  });
  const next = await neovim.lock();
  const isSame = next.port === target.lock.port;
  const isKept = next.content.authToken === target.lock.content.authToken;
  target.lock = next;
  return isSame === isKept ? undefined : "another port with the same token, or the other way round";
}

const ALL = { call, proposal, bigFile, manyDiffs, lsp, kill };
export const KINDS = ALL satisfies Record<string, Try>;
export type Kind = keyof typeof KINDS;
