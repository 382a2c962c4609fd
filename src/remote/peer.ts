import { isAbsolute } from "node:path";
import { linesOf } from "../lib/lines";
import { killNow } from "../lib/own-children";
import type { Environment } from "../lib/paths";
import { onPath } from "../lib/programs";
import { visibleLine } from "../lib/visible";
import { LIMITS, StdioWire, type Wire } from "./wire";

/** For a program to end by itself. */
export const KILL_MS = 2_000;
/** Of what the other end says, or the program that starts it. */
export const SHOWN_LENGTH = 500;

/** The program at the other end of a wire. */
export interface Peer {
  wire: Wire;
  /** Resolves, with how, once it has ended. */
  gone: Promise<string>;
  end(): void;
}

/** Starts a program that speaks on stdin and stdout. `onSaid` gets the lines of its stderr. Throws where there is none. */
export function startPeer(command: readonly string[], onSaid: (line: string) => void): Peer {
  const [name = "", ...args] = command;
  const program = isAbsolute(name) ? { path: name } : onPath(name);
  if (program.path === undefined) throw new Error(program.why);
  const child = Bun.spawn([program.path, ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: peerEnvironment(process.env),
  });
  const gone = Promise.all([child.exited, lastSaid(child.stderr, onSaid)]).then(([code, last]) => {
    const how = child.signalCode ?? `code ${code}`;
    return `${name} ended with ${how}${last && `: ${last}`}`;
  });
  const end = () => {
    void child.stdin.end();
    const kill = setTimeout(() => killNow(child.pid), KILL_MS);
    void child.exited.then(() => clearTimeout(kill));
  };
  return { wire: new StdioWire(child.stdout, child.stdin, end), gone, end };
}

/** Resolves to the last line. */
async function lastSaid(
  stderr: AsyncIterable<Uint8Array>,
  onSaid: (line: string) => void,
): Promise<string> {
  let last = "";
  for await (const line of linesOf(stderr, LIMITS.greetingBytes, "cut")) {
    const text = visibleLine(Bun.stripANSI(line), SHOWN_LENGTH);
    if (text === "") continue;
    last = text;
    onSaid(text);
  }
  return last;
}

/** The first bytes of the other end: what a shell prints before the first `{` is skipped, if it is short. */
export class Greeting {
  /** Why it cannot be used. */
  problem: string | undefined;

  async *skipped(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let skipped = "";
    let hasBegun = false;
    for await (const chunk of input) {
      const start: number = hasBegun ? 0 : chunk.indexOf("{".charCodeAt(0));
      if (!hasBegun)
        skipped += Buffer.from(start < 0 ? chunk : chunk.subarray(0, start)).toString();
      if (skipped.length > LIMITS.greetingBytes) {
        this.problem = `its stdout is not clean: it begins with "${visibleLine(skipped, 100)}"`;
        return;
      }
      hasBegun ||= start >= 0;
      if (start >= 0) yield chunk.subarray(start);
    }
    if (!hasBegun && skipped !== "")
      this.problem = `it only printed "${visibleLine(skipped, 300)}"`;
  }
}

/** That of the executable, without what leads to a Neovim of here. */
function peerEnvironment(env: Environment): Environment {
  const { NVIM: _, CLAUDE_CODE_SSE_PORT: __, ...rest } = env;
  return rest;
}
