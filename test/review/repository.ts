import { cpSync } from "node:fs";
import { join } from "node:path";
import { isolatedEnv, temporaryFolder } from "#test";

/** git in a repository, as a user who has no configuration; gives what it prints. */
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
 * Makes a folder a repository, on the branch `main`, where its files are committed. `files`: what they are, by
 * name. One with the same files as before is a copy, for which no git starts.
 */
export function commitAll(folder: string, files: object): void {
  const key = JSON.stringify(files);
  const known = made.get(key);
  if (known) return cpSync(known, join(folder, ".git"), { recursive: true });
  const who = "-c user.name=n -c user.email=n@n -c commit.gpgsign=false";
  // Each commit would start one more git.
  const commands = `git init -q -b main --template= . && git config maintenance.auto false && git add -A &&
    git ${who} commit -q -m first --allow-empty`;
  const env = { ...isolatedEnv(folder), GIT_CONFIG_NOSYSTEM: "1" };
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", commands], { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`${stderr}`);
  const copy = temporaryFolder();
  cpSync(join(folder, ".git"), copy, { recursive: true });
  made.set(key, copy);
}
