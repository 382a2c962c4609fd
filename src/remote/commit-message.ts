import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { message } from "../lib/errors";
import { isObject, parseJson } from "../lib/json";
import type { Log } from "../lib/log";
import type { Channel } from "./channels";
import type { Remote } from "./remote";

/** More than any message has. */
const MOST_CHARACTERS = 1024 * 1024;

/**
 * git's message of a commit that the user has asked for in a remote, which this executable opens in Neovim. Nothing
 * goes back unless it was written, or while there is no such commit.
 */
export async function editMessage(
  channel: Channel,
  d: string,
  { name, review }: Remote,
  log: Log,
): Promise<void> {
  const opening = parseJson(d);
  const text = isObject(opening) ? opening.input : undefined;
  const isMeant = review?.isCommitting && typeof text === "string" && text.length < MOST_CHARACTERS;
  if (!isMeant) return channel.close();
  // One message is one commit's.
  review.isCommitting = false;
  const folder = mkdtempSync(join(tmpdir(), "claude-code-commit-"));
  try {
    const path = join(folder, "COMMIT_EDITMSG");
    writeFileSync(path, text, { mode: 0o600 });
    const child = Bun.spawn([process.execPath, "edit", "--commit", String(process.pid), path], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    channel.onClose = () => child.kill();
    if ((await child.exited) === 0) channel.send(JSON.stringify(readFileSync(path, "utf8")));
  } catch (error) {
    log.warn(`The message of a commit in ${name} was not opened: ${message(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    channel.close();
  }
}
