import {
  appendFileSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { conversationsFolder } from "../claude/config-dir";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch } from "../lib/path-watch";
import { namesIn, newestFiles } from "../lib/paths";
import { readRange, withRegular } from "../lib/read-regular";
import type { Channel } from "./channels";
import type { Link } from "./link";
import { LIMITS } from "./wire";

const PIECE_BYTES = 256 * 1024;

/** Which conversation a channel is about. */
const SessionId = v.pipe(v.string(), v.uuid());
/** Instead of a piece: another file is there, or it has become shorter. */
const AGAIN = "again";

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

/**
 * A copy of a conversation in a remote, which grows with it while that is connected, in a folder for temporary
 * files that nobody else may enter. Nothing in it is believed.
 */
export class ConversationCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), "claude-code-remote-"));
  /** There is no file while there is none in the remote. */
  readonly path = join(this.#folder, "conversation.jsonl");
  readonly #whole = Promise.withResolvers<void>();
  readonly whole = this.#whole.promise;
  isWhole = false;
  #size = 0;
  #received = 0;
  #channel: Channel | undefined;

  /** `toHost`: the file here of a path there; a relative one is from `folder`, of here. */
  constructor(
    readonly remote: string,
    private readonly session: string,
    readonly toHost: (path: string, folder?: string) => string | undefined,
    private readonly log: Log,
  ) {}

  connect(link: Link | undefined): void {
    if (this.#channel || !v.is(SessionId, this.session)) return;
    const channel = link?.open("conversation", this.session);
    if (!channel) return;
    this.#channel = channel;
    channel.onClose = () => {
      this.#channel = undefined;
    };
    channel.onMessage = (text) => {
      try {
        this.#take(text);
        channel.send(String(this.#size));
      } catch (error) {
        this.log.warn(`The remote ${this.remote}: conversation ${this.session}: ${message(error)}`);
        this.#close();
      }
    };
    channel.send(String(this.#size));
  }

  #take(text: string): void {
    if (text === AGAIN) {
      this.#size = 0;
      return;
    }
    const bytes = Buffer.from(text, "base64");
    this.#received += bytes.length;
    if (this.#received > LIMITS.conversationBytes) throw new Error("it is too long");
    if (bytes.length > 0) return this.#write(bytes);
    this.isWhole = true;
    this.#whole.resolve();
  }

  /** Another file of there is another one here, so that its reader begins again. */
  #write(bytes: Buffer): void {
    if (this.#size > 0) appendFileSync(this.path, bytes);
    else {
      const next = `${this.path}.new`;
      writeFileSync(next, bytes, { mode: 0o600 });
      renameSync(next, this.path);
    }
    this.#size += bytes.length;
  }

  #close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  end(): void {
    this.#close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
