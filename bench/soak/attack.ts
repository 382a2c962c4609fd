import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../test/nvim-lsp/client";
import { TestClient } from "../../test/support/client";
import { eventually } from "../../test/support/eventually";
import { isolatedEnv, type NeovimVersion, TestNeovim } from "../../test/support/neovim";
import { FILES, KINDS, type Kind, OPEN_FILES, Random, type Target } from "./attacks";

export interface Attack {
  /** Sentences about failures. */
  failures: string[];
  /** The longest time in ms that Neovim computed without a pause, and the call that caused it. */
  longest: { computedMs: number; called: string };
  /** The differences between the end and the start. */
  growth: { executableKb: number; neovimKb: number; logBytes: number; descriptors: number };
}

/**
 * Ticks each ms in Neovim's main loop, and measures Neovim's processor time between two ticks, which does not depend on
 * how busy the machine is. Leaves out Neovim's own tree-sitter, which reads the queries of a language again after they
 * were garbage-collected.
 */
const WATCH = `
  local ffi = require("ffi")
  ffi.cdef("typedef struct { long s; long ns; } attack_time; int clock_gettime(int, attack_time *);")
  local time, THREAD_CPU = ffi.new("attack_time"), 3
  -- The time of the main thread in ms. /proc has it only in ticks of 4 ms.
  local function cpu()
    ffi.C.clock_gettime(THREAD_CPU, time)
    return tonumber(time.s) * 1e3 + tonumber(time.ns) / 1e6
  end
  local parsing, depth = 0, 0
  local function count(holder, name)
    local original = holder[name]
    local function ended(began, ok, ...)
      depth = depth - 1
      parsing = parsing + (depth == 0 and cpu() - began or 0)
      if not ok then error((...), 0) end
      return ...
    end
    holder[name] = function(...)
      depth = depth + 1
      return ended(cpu(), pcall(original, ...))
    end
  end
  count(vim.treesitter.query, "get")
  count(require("vim.treesitter.languagetree"), "parse")
  local last = cpu()
  COMPUTED = 0
  vim.uv.new_timer():start(0, 1, vim.schedule_wrap(function()
    local now = cpu()
    COMPUTED = math.max(COMPUTED, now - last - parsing)
    last, parsing = now, 0
  end))`;

/** The longest time since the last call, in ms. */
const COMPUTED = "local longest = COMPUTED COMPUTED = 0 return longest";

const SETTLE_MS = 1_000;

/**
 * Attacks a real Neovim for some seconds, in an order that depends on the seed. Another client must get its answers in
 * the meantime.
 */
export async function attack(
  version: NeovimVersion,
  seconds: number,
  seed: number,
): Promise<Attack> {
  await using neovim = await TestNeovim.start({ version, ui: { width: 120, height: 40 } });
  for (const [name, text] of Object.entries({ ...FILES, ...OPEN_FILES })) {
    await Bun.write(join(neovim.cwd, name), text);
  }
  for (const name of Object.keys(OPEN_FILES)) await neovim.command(`silent edit ${name}`);
  const lock = await neovim.lock();
  const server = await connect(neovim.cwd, isolatedEnv(neovim.home));
  const target: Target = { neovim, lock, random: new Random(seed), kills: 0, server, called: "" };
  await neovim.lua(WATCH);
  await Bun.sleep(SETTLE_MS);
  const before = await measure(target);
  await neovim.lua(COMPUTED);
  const failures: string[] = [];
  const longest = { computedMs: 0, called: "" };
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const kind = target.random.of(Object.keys(KINDS) as Kind[]);
    target.called = kind;
    const failure = await KINDS[kind](target).catch((error) => String(error));
    if (failure) failures.push(failure);
    await witness(target).catch(async (error) => {
      failures.push(`${target.called}: ${error}`);
      // Neovim may wait for a key.
      await neovim.request("nvim_input", ["<CR>"]);
    });
    const { called } = target;
    const computedMs = await neovim.lua<number>(COMPUTED);
    if (computedMs > longest.computedMs) Object.assign(longest, { computedMs, called });
  }
  await server.close();
  await Bun.sleep(SETTLE_MS);
  const after = await measure(target);
  if (existsSync(join(neovim.cwd, "PWNED"))) failures.push("a name was run");
  const growth = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      value - before[name as keyof typeof before],
    ]),
  ) as Attack["growth"];
  return { failures, longest, growth };
}

/** Connects an ordinary client, and waits for an answer of Neovim. */
async function witness({ lock }: Target): Promise<void> {
  using client = await eventually("the witness's connection", () => TestClient.open(lock));
  await eventually("Neovim's answer", () => client.json("getOpenEditors"));
}

async function measure({ neovim }: Target): Promise<Attack["growth"]> {
  const pid = await eventually("the executable", () =>
    neovim.lua<number>(`return require("claude-code").status().process_id`),
  );
  const log = join(neovim.home, ".local/state/nvim/claude-code.log");
  return {
    executableKb: kilobytes(pid),
    neovimKb: kilobytes(neovim.process.pid as number),
    logBytes: existsSync(log) ? statSync(log).size : 0,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function kilobytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}
