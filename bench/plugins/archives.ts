import { test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { platformSkip } from "../../test/support/platform-skip";
import { ROOT, TOOLCHAIN } from "../../test/support/toolchain";
import pinned from "./plugins.json";

export type PluginName = keyof typeof pinned;

/** A folder of archives, `NAME.tar.gz` with one top folder each. We look here before we use git. */
const ARCHIVES = process.env.CLAUDE_CODE_NVIM_PLUGINS ?? join(dirname(ROOT), "shared/plugins");
const CACHE = join(TOOLCHAIN, "plugins");

/** A plugin's folder at its pinned commit. */
export function folderOf(name: PluginName): string {
  const [, commit] = pinned[name].split("@") as [string, string];
  return join(CACHE, `${name}-${commit.slice(0, 12)}`);
}

const missing = fetchPlugins();

/** A test that needs plugins of others. It is skipped, with the reason, if they cannot be fetched. */
export function testWithPlugins(name: string, run: () => Promise<void>): void {
  if (missing) platformSkip(missing);
  test.skipIf(missing !== undefined)(name, run);
}

/** Fetches missing plugins, from archives or by git. Returns a sentence if that is not possible. */
function fetchPlugins(): string | undefined {
  for (const name of Object.keys(pinned) as PluginName[]) {
    if (existsSync(folderOf(name))) continue;
    mkdirSync(CACHE, { recursive: true });
    const work = mkdtempSync(join(CACHE, ".work-"));
    try {
      const fetched = unpack(name, work) ?? clone(name, work);
      if (!fetched) return `no archive of ${name}, and its repository cannot be reached`;
      // Another run may have been faster.
      if (!existsSync(folderOf(name))) renameSync(fetched, folderOf(name));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return undefined;
}

function unpack(name: PluginName, work: string): string | undefined {
  const archive = join(ARCHIVES, `${name}.tar.gz`);
  if (!existsSync(archive) || !run(["tar", "-xzf", archive, "-C", work])) return undefined;
  return join(work, readdirSync(work)[0] as string);
}

function clone(name: PluginName, work: string): string | undefined {
  const [repository, commit] = pinned[name].split("@") as [string, string];
  const url = `https://github.com/${repository}.git`;
  const git = ["git", "-C", work];
  const done =
    run([...git, "init", "-q"]) &&
    run([...git, "fetch", "-q", "--depth=1", url, commit]) &&
    run([...git, "checkout", "-q", "FETCH_HEAD"]);
  return done ? work : undefined;
}

function run(command: string[]): boolean {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  return Bun.spawnSync(command, { env, timeout: 60_000 }).success;
}
