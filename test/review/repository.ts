import { cpSync } from "node:fs";
import { isolatedEnv, shell, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";

/** Runs git in a repository as a user without a configuration, and returns its output. */
export function git(folder: string, ...args: string[]): string {
  const env = { ...process.env, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=n", "-c", "user.email=e@e", "-c", "protocol.file.allow=always"];
  const done = Bun.spawnSync(["git", "-C", folder, ...who, ...args], { env });
  if (done.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.toString();
}

/** `.git` folders by what is committed there. */
const made = new Map<string, string>();

/**
 * Makes a folder a repository, with its files committed on the branch `main`. `files` has their contents by name. A
 * repository with the same files as an earlier one is a copy of it, which needs no git process.
 */
export function commitAll(folder: string, files: object): void {
  const key = JSON.stringify(files);
  const known = made.get(key);
  if (known) return cpSync(known, join(folder, ".git"), { recursive: true });
  const who = "-c user.name=n -c user.email=n@n -c commit.gpgsign=false";
  // Otherwise each commit would start another git process.
  const commands = `git init -q -b main --template= . && git config maintenance.auto false && git add -A && git ${who} commit -q -m first --allow-empty`;
  const env = { ...isolatedEnv(folder), GIT_CONFIG_NOSYSTEM: "1" };
  const { exitCode, stderr } = Bun.spawnSync(shell(commands), { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`${stderr}`);
  const copy = temporaryFolder();
  cpSync(join(folder, ".git"), copy, { recursive: true });
  made.set(key, copy);
}
