import { lstatSync, writeFileSync } from "node:fs";
import * as v from "valibot";
import { transcriptOf } from "../claude/config-dir";
import { replace } from "../lib/atomic-write";
import { withDeadline } from "../lib/deadline";
import { attempt, Failure } from "../lib/errors";
import { statOf } from "../lib/paths";
import { join } from "../lib/platform";
import { readRange, withRegular } from "../lib/read-regular";
import type { Channel } from "./channels";
import { LIMITS } from "./wire";

const PIECE_BYTES = 256 * 1024;
const WHOLE_MS = 60_000;

const SessionId = v.pipe(v.string(), v.uuid());

/**
 * Sends a conversation of a CLI beside the relay. The link requests offsets, and gets the piece at each offset in
 * base64. The piece is empty at the end, or if there is no such conversation. The link cannot request any other file.
 */
export function sendConversation(channel: Channel, session: string): void {
  if (!v.is(SessionId, session)) return channel.close();
  channel.onMessage = (offset) => channel.send(piece(session, Number(offset)));
}

function piece(session: string, from: number): string {
  const path = transcriptOf(session) ?? "";
  const read = (file: number, size: number) =>
    readRange(file, from, Math.min(size, from + PIECE_BYTES)).toString("base64");
  const isFile = attempt(() => lstatSync(path).isFile());
  return (isFile && attempt(() => withRegular(path, read))) || "";
}

/**
 * Copies a conversation from a remote to a file in `folder`, which only the user may enter; with `more`, only what the
 * copy lacks. Resolves to the file's path; the file does not exist if the conversation does not. The content is not
 * trustworthy.
 */
export async function copyConversation(
  open: (session: string) => Channel | undefined,
  session: string,
  folder: string,
  more = false,
): Promise<string> {
  const path = join(folder, `${session}.jsonl`);
  const channel = v.is(SessionId, session) ? open(session) : undefined;
  if (!channel) throw new Failure("its remote is not connected: see :Claude status");
  const whole = Promise.withResolvers<void>();
  const pieces: Buffer[] = [];
  const from = (more && statOf(path)?.size) || 0;
  let size = from;
  channel.onClose = () => whole.reject(new Failure("the connection to its remote has ended"));
  channel.onMessage = (text) => {
    const bytes = Buffer.from(text, "base64");
    pieces.push(bytes);
    size += bytes.length;
    if (size > LIMITS.conversationBytes) whole.reject(new Failure("it is too long"));
    else if (bytes.length === 0) whole.resolve();
    else channel.send(String(size));
  };
  channel.send(String(from));
  try {
    await withDeadline(whole.promise, WHOLE_MS, "its remote");
  } finally {
    channel.close();
  }
  const write = (file: string, flag: string) =>
    writeFileSync(file, Buffer.concat(pieces), { mode: 0o600, flag });
  if (from > 0) write(path, "a");
  else if (size > 0) replace(path, (draft) => write(draft, "w"));
  return path;
}
