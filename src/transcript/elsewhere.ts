/** The file of this machine that a path of another one means, if it is shared. A relative one is from `folder`, of here. */
export type ToHost = (path: string, folder?: string) => string | undefined;

/** The file of a conversation; there may be none yet. */
export interface Conversation {
  readonly path: string;
  /** Of one of another machine, a copy that grows with it: whether all that was there is here. */
  readonly isWhole?: boolean;
  readonly whole?: Promise<void>;
  readonly toHost?: ToHost;
}

/** Conversations of Claudes that do not run on this machine. */
export interface Elsewhere {
  copyOf(remote: string, session: string): Conversation;
  /** Removes those at other paths. */
  keepCopies(paths: ReadonlySet<string>): void;
}
