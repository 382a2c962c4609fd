import { readdirSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { type NeovimVersion, TestNeovim } from "../../test/support/neovim";
import { callMixed } from "./calls";
import { openAndEnd } from "./diffs";
import handles from "./handles.lua" with { type: "text" };
import inventory from "./inventory.lua" with { type: "text" };
import { Languages } from "./languages";

interface Amounts {
  calls: number;
  diffs: number;
  selections: number;
  connects: number;
  /** Calls of the user's language servers. */
  questions: number;
}

const AMOUNTS: Amounts = { calls: 2_500, diffs: 50, selections: 500, connects: 25, questions: 60 };

export interface Soaked {
  neovim: TestNeovim;
  lock: Awaited<ReturnType<TestNeovim["lock"]>>;
  client: TestClient;
  languages: Languages;
}

/** Counts of objects that may be left behind, and memory in KB. */
type Counts = Record<string, number>;

interface Soak {
  before: Counts;
  after: Counts;
}

/** The limit of growth in KB, for garbage that is not collected yet. */
const SPARE_KB: Record<string, number> = {
  executable_kilobytes: 8_000,
  // Even without plugins, Neovim keeps 3 to 7 KB for each diff of two buffers.
  neovim_kilobytes: 8_000,
  lua_kilobytes: 500,
  mcp_kilobytes: 8_000,
};

/** The rest in ms before we count, so that memory is released. */
const SETTLE_MS = 1_500;
/** The plugin watches a file that the CLI may be about to write for 10 s. */
const LAST_TIMER_MS = 12_000;
const ROUNDS = 5;

/** Runs everything, `times` as often as usual, after a warm-up with a tenth of it. Counts before and after. */
export async function soak(version: NeovimVersion, times: number): Promise<Soak> {
  await using neovim = await TestNeovim.start({
    version,
    setup: false,
    ui: { width: 160, height: 48 },
  });
  const soaked = await prepare(neovim);
  using _ = soaked.client;
  await using _languages = soaked.languages;
  await traffic(soaked, times / 10);
  const before = await settled(soaked);
  for (let round = 0; round < ROUNDS; round++) await traffic(soaked, times / ROUNDS);
  return { before, after: await settled(soaked, before) };
}

/** The counts that have grown; empty if nothing was left behind. */
export function leftBehind({ before, after }: Soak): string[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => (after[name] ?? 0) - (before[name] ?? 0) > (SPARE_KB[name] ?? 0))
    .map((name) => `${name}: ${before[name] ?? 0} before, ${after[name] ?? 0} after`);
}

async function prepare(neovim: TestNeovim): Promise<Soaked> {
  for (let i = 0; i < 10; i++) {
    const text = "line of text in a file\n".repeat(100);
    await Bun.write(join(neovim.cwd, `file-${i}.txt`), text);
  }
  await neovim.lua("OPEN_HANDLES = loadstring(...)()", handles);
  await neovim.lua(
    `local port = require("port")
     port.selection.DEBOUNCE_MS, port.clock.QUIET_MS = 10, 0
     require("claude-code").setup({})`,
  );
  await neovim.lua(`
    FILES = {}
    for i = 0, 9 do
      vim.cmd.edit("file-" .. i .. ".txt")
      FILES[i + 1] = vim.api.nvim_get_current_buf()
    end`);
  const lock = await neovim.lock();
  const client = await TestClient.open(lock, "soak");
  return { neovim, lock, client, languages: await Languages.open(neovim) };
}

/** A share of the amounts. */
async function traffic(soaked: Soaked, share: number): Promise<void> {
  const of = (name: keyof Amounts) => Math.ceil(AMOUNTS[name] * share);
  await callMixed(soaked, of("calls"));
  await openAndEnd(soaked, of("diffs"));
  await select(soaked, of("selections"));
  await connectAndDrop(soaked, of("connects"));
  await soaked.languages.ask(of("questions"));
}

async function select({ neovim, client }: Soaked, count: number): Promise<void> {
  await neovim.lua("vim.cmd.buffer(FILES[1])");
  for (let i = 0; i < count; i += 10) {
    const keys = `${(i % 90) + 1}Gvl<Esc>jVj<Esc>wvb<Esc>`;
    await neovim.type(keys.repeat(3).slice(0, keys.length * 3));
  }
  client.received.length = 0;
}

/** Half of the clients disconnect, some even before the handshake. */
async function connectAndDrop({ lock }: Soaked, count: number): Promise<void> {
  for (let i = 0; i < count; i += 5) {
    const clients = await Promise.all([
      TestClient.open(lock),
      TestClient.open(lock, "claude-code"),
      TestClient.connect(lock),
      TestClient.connect(lock),
      TestClient.connect({ port: lock.port, content: { authToken: "wrong" } }).catch(() => null),
    ]);
    for (const [j, client] of clients.entries()) {
      if (j % 2 === 0) client?.close();
      else client?.terminate();
    }
  }
}

/** Counts once the other clients are gone and short-lived processes have ended. */
async function settled(soaked: Soaked, before?: Counts): Promise<Counts> {
  const { neovim, languages } = soaked;
  await languages.age();
  await eventually("the other clients to go", () =>
    neovim.lua<boolean>(`return #require("claude-code").status().clients == 1`),
  );
  await neovim.lua(`
    vim.diagnostic.reset(vim.api.nvim_create_namespace("soak"))
    vim.cmd("silent! wall!")
    vim.cmd.buffer(FILES[1])`);
  await Bun.sleep(SETTLE_MS);
  const end = performance.now() + LAST_TIMER_MS;
  let counts = await count(soaked);
  while (before && leftBehind({ before, after: counts }).length > 0 && performance.now() < end) {
    await Bun.sleep(500);
    counts = await count(soaked);
  }
  return counts;
}

async function count({ neovim, languages }: Soaked): Promise<Counts> {
  const executable = await neovim.lua<number>(`return require("claude-code").status().process_id`);
  return {
    ...(await neovim.lua<Counts>("return loadstring(...)(OPEN_HANDLES())", inventory)),
    neovim_files: openFiles(neovim.process.pid as number),
    neovim_kilobytes: resident(neovim.process.pid as number),
    executable_files: openFiles(executable),
    executable_kilobytes: resident(executable),
    mcp_files: openFiles(languages.pid),
    mcp_kilobytes: resident(languages.pid),
  };
}

/** The number of open file descriptors; 0 on a system that does not list them. */
function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

function resident(pid: number): number {
  return Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString());
}
