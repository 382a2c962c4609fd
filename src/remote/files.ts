import { lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";
import { removeOldDrafts } from "../lib/drafts";
import { message } from "../lib/errors";
import { parseJson } from "../lib/json";
import { PathWatch } from "../lib/path-watch";
import { isBelow, realPath, statOf } from "../lib/paths";
import { readRegular } from "../lib/read-regular";
import { rewrite } from "../lib/rewrite";
import type { Channel } from "./channels";
import { LIMITS } from "./wire";

/** What a program writes piece by piece is sent once. */
const SETTLE_MS = 50;

/** In base64. A regular expression that checks it fails for 16 MB. */
const bytes = v.optional(v.string());

/** Why something is not written, for who writes it in Neovim. */
export const CHANGED = "it has changed there; :w! overwrites it, :e! loads it";

/** From the link: the file's text is wanted, now and whenever it changes; or it gets another one. */
export const FileRequest = v.object({
  id: v.number(),
  path: v.string(),
  /** The new text. */
  bytes,
  /** Of the text that it takes the place of; left out if there is to be no file. */
  hash: v.optional(v.string()),
});
export type FileRequest = v.InferOutput<typeof FileRequest>;

/** What is there. */
export const FileAnswer = v.object({
  /** Left out: it has changed since the last answer. */
  id: v.optional(v.number()),
  path: v.string(),
  /** Left out: there is no file. */
  bytes,
  /** Why there is no answer, or nothing was written. */
  problem: v.optional(v.string()),
});
export type FileAnswer = v.InferOutput<typeof FileAnswer>;

/** Another one for another text, in hexadecimal digits; undefined for no file. */
export function hashOf(content: Uint8Array | undefined): string | undefined {
  return content && new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

/**
 * Sends and writes the files below `roots` that the link asks for, for as long as the channel is open. `sent`: what
 * was sent last, by path.
 */
export function serveFiles(
  channel: Channel,
  roots: readonly string[],
  sent: Map<string, string>,
): void {
  let timer: Timer | undefined;
  const watch = new PathWatch(() => {
    timer ??= setTimeout(look, SETTLE_MS);
  });
  const answer = (path: string, act: () => object, id?: number) => {
    let said: object;
    try {
      said = act();
    } catch (error) {
      said = { problem: message(error) };
    }
    channel.send(JSON.stringify({ ...(id !== undefined && { id }), path, ...said }));
  };
  const read = (path: string, id?: number) => {
    sent.set(path, versionOf(path));
    // A folder may have taken its place: nobody asks for that.
    const isGone = id === undefined && statOf(path)?.isDirectory();
    answer(path, () => (isGone ? {} : { bytes: contentOf(path, roots)?.toString("base64") }), id);
  };
  const look = () => {
    timer = undefined;
    // A folder that was missing may be there now.
    watch.follow(sent.keys());
    for (const [path, version] of sent) if (versionOf(path) !== version) read(path);
  };
  channel.onMessage = (text) => {
    const asked = v.safeParse(FileRequest, parseJson(text));
    if (!asked.success) return channel.close();
    const { id, path, bytes: given, hash } = asked.output;
    if (given !== undefined)
      return answer(path, () => write(path, roots, Buffer.from(given, "base64"), hash), id);
    const isNew = !sent.has(path);
    // As the link does it (Mirror): one that is not here gives its place to the next one.
    const missing = isNew && sent.size >= LIMITS.files && [...sent].find(([, one]) => one === "");
    if (missing) sent.delete(missing[0]);
    if (isNew) watch.follow([...sent.keys(), path]);
    read(path, id);
  };
  channel.onClose = () => {
    clearTimeout(timer);
    watch.end();
  };
}

function versionOf(path: string): string {
  const stats = statOf(path);
  return stats ? [stats.ino, stats.mtimeMs, stats.ctimeMs, stats.size].join() : "";
}

/** Where a path leads. Throws an Error for a place outside of the folders. */
function placeOf(path: string, roots: readonly string[]): string {
  const real = realPath(path);
  if (roots.some((root) => isBelow(real, realPath(root)))) return real;
  throw new Error("a symlink leads it out of the folder");
}

/** undefined: there is none. */
function contentOf(path: string, roots: readonly string[]): Buffer | undefined {
  const real = placeOf(path, roots);
  return statOf(real) && readRegular(real, LIMITS.fileBytes);
}

/** No other system call compares and writes: another program has the moment between those two. */
function write(path: string, roots: readonly string[], content: Buffer, hash?: string): object {
  const now = hashOf(contentOf(path, roots));
  // The same text may be there by a write whose answer was lost.
  if (now !== hash && now !== hashOf(content))
    throw new Error(hash === undefined ? "there is a file already" : CHANGED);
  const real = placeOf(path, roots);
  mkdirSync(dirname(real), { recursive: true });
  removeOldDrafts(dirname(real));
  rewrite(real, content, lstatSync(real, { throwIfNoEntry: false }));
  return {};
}
