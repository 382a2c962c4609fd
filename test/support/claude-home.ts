import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { IS_WINDOWS, join } from "../../src/lib/platform";
import { temporaryFolder } from "./neovim";

/** A made-up key: the stand-in API takes any, and no other host can be reached. */
export const API_KEY = "sk-ant-api03-a-made-up-key-for-the-stand-in-model-0000000000";

/**
 * Adds to the CLI's state in a HOME so that it starts at its prompt: no onboarding, no theme,
 * no "do you trust this folder", no "use this API key", no "make auto mode your default" (measured with
 * Claude Code 2.1.330).
 */
export async function prepareClaudeHome(home: string, project: string): Promise<void> {
  await mkdir(join(home, ".claude"), { recursive: true, mode: 0o700 });
  const path = join(home, ".claude.json");
  const before = existsSync(path) ? JSON.parse(await readFile(path, "utf8")) : {};
  const state = {
    ...before,
    hasCompletedOnboarding: true,
    theme: "dark",
    autoUpdates: false,
    hasSeenAutoDefaultNudge: true,
    customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
    projects: {
      ...before.projects,
      [project]: { ...before.projects?.[project], hasTrustDialogAccepted: true },
    },
  };
  await writeFile(path, JSON.stringify(state));
}

/** A new user of the CLI, with a project of these files; both are below `root`. */
export async function newUser(files: Record<string, string>) {
  const root = temporaryFolder();
  const [home, project] = [join(root, "home"), join(root, "project")];
  for (const folder of ["tmp", "run"]) await mkdir(join(home, folder), { recursive: true });
  await mkdir(project);
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
  await prepareClaudeHome(home, project);
  return { root, home, project };
}

function windowsEnv(home: string): Record<string, string> {
  const kept = ["SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT"];
  return {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name] ?? ""])),
    ...{ USERPROFILE: home, LOCALAPPDATA: join(home, "AppData/Local") },
    ...{ TEMP: join(home, "tmp"), TMP: join(home, "tmp") },
  };
}

/** A whole environment for programs that live in `home`: nothing of the caller's but PATH. */
export function isolatedEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    HOME: home,
    ...(IS_WINDOWS && windowsEnv(home)),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    XDG_RUNTIME_DIR: join(home, "run"),
    TMPDIR: join(home, "tmp"),
  };
}

/** Uses the stand-in model, and sends nothing to any other host. */
export function claudeEnv(home: string, modelUrl: string): Record<string, string> {
  return {
    ...isolatedEnv(home),
    ANTHROPIC_API_KEY: API_KEY,
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    // Things it would look for outside of its project, an eighth of the processor time of its start
    // (measured with 2.1.330): plugins to clone, packages that it may come from, the system's certificates.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
    DISABLE_INSTALLATION_CHECKS: "1",
    CLAUDE_CODE_CERT_STORE: "bundled",
    // Its runtime's optimizing compiler takes a fifth of all processor time of a CLI that lives for
    // seconds (measured with 2.1.330), and changes nothing that it does.
    BUN_JSC_useDFGJIT: "0",
  };
}
