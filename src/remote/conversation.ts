import { fstatSync, lstatSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { conversationsFolder } from "../claude/config-dir";
import { PathWatch } from "../lib/path-watch";
import { namesIn, newestFiles } from "../lib/paths";
import { readRange, withRegular } from "../lib/read-regular";
import type { Channel } from "./channels";

const PIECE_BYTES = 256 * 1024;

/** Which conversation a channel is about. */
export const SessionId = v.pipe(v.string(), v.uuid());
/** Instead of a piece: another file is there, or it has become shorter. */
export const AGAIN = "again";

/**
 * Sends a conversation that a CLI beside the relay has, for as long as the channel is open: for each offset that
 * the link asks for, a piece from there in base64; an empty one says once that there is no more yet. No other file
 * can be asked for.
 */
export function sendConversation(channel: Channel, session: string): void {
  if (!v.is(SessionId, session)) return channel.close();
  let asked: number | undefined;
  let isEndKnown = false;
  let inode: number | undefined;
  const read = (path: string, from: number) => {
    if (!lstatSync(path).isFile()) return "";
    return withRegular(path, (file, size) => {
      const before = inode;
      inode = fstatSync(file).ino;
      if (from > 0 && (from > size || inode !== (before ?? inode))) return AGAIN;
      return readRange(file, from, Math.min(size, from + PIECE_BYTES)).toString("base64");
    });
  };
  const answer = () => {
    const root = conversationsFolder();
    const places = namesIn(root).map((folder) => join(root, folder, `${session}.jsonl`));
    watch.follow([`${root}/`, ...places]);
    if (asked === undefined) return;
    let piece = "";
    try {
      piece = read(newestFiles(places)[0]?.path ?? "", asked);
    } catch {
      // It is not there yet, or not any more.
    }
    if (piece === "" && isEndKnown) return;
    isEndKnown = piece === "";
    asked = undefined;
    channel.send(piece);
  };
  const watch = new PathWatch(answer);
  channel.onMessage = (text) => {
    asked = Number(text);
    answer();
  };
  channel.onClose = () => watch.end();
}
