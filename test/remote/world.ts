import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { EXECUTABLE, eventually, isolatedEnv, temporaryFolder } from "#test";
import type { LockContent } from "../../src/ide/lock-file";
import { Log } from "../../src/lib/log";
import { join } from "../../src/lib/platform";
import { CONTRACT, VERSION } from "../../src/lib/version";
import type { Channel, Kind } from "../../src/remote/channels";
import { Link, type LinkState } from "../../src/remote/link";

export const HELLO = {
  contract: CONTRACT,
  version: VERSION,
  port: 12_345,
  plugin: "/data/claude-plugin/0",
  plugin_without_mod: "/data/claude-plugin/1",
  probes: [],
};

/** The option `remotes.NAME.command` of a Claude that does nothing. */
export const STAND_IN = ["/bin/sh", "-c", "exec cat", "{env}", "{args}"];

/**
 * A relay in this folder that runs `script` once it has the host's first line, `reply` for each frame `{ t, ch, d }`
 * after that, and `end` after its input. Its input is read back.
 */
export function scriptedRelay(folder: string, script: string, reply = "", end = "") {
  const [path, got] = [join(folder, "relay.ts"), join(folder, "got")];
  writeFileSync(got, "");
  writeFileSync(
    path,
    `const { appendFileSync } = require("node:fs");
     const say = (one) => process.stdout.write(typeof one === "string" ? one : JSON.stringify(one) + "\\n");
     const HELLO = ${JSON.stringify(HELLO)};
     let isFirst = true;
     for await (const line of console) {
       if (line === "") break;
       if (isFirst) { isFirst = false; ${script}; continue; }
       appendFileSync(${JSON.stringify(got)}, line + "\\n");
       const { t, ch, d } = JSON.parse(line);
       ${reply};
     }
     ${end}`,
  );
  const lines = () => readFileSync(got, "utf8").split("\n").filter(Boolean);
  return {
    command: [process.execPath, path],
    got: () => lines().map((line): Frame => JSON.parse(line)),
  };
}

/** Kills the newest relay of a process: a previous one may still be ending. */
export function killRelay(parent: number = process.pid): void {
  const { stdout } = Bun.spawnSync(["pgrep", "-n", "-P", `${parent}`, "-f", "relay --stdio"]);
  process.kill(Number(stdout.toString()), "SIGKILL");
}

export interface Frame {
  t: string;
  ch: number;
  kind?: string;
  d?: string;
}

export interface Lock {
  path: string;
  port: number;
  content: LockContent;
}

/** Neovim's end of a link, with a relay in a home of its own. Each of the relay's clients receives its own texts. */
export class World implements Disposable {
  readonly folder = temporaryFolder();
  readonly states: LinkState[] = [];
  readonly channels: Channel[] = [];
  readonly token = crypto.randomUUID();
  readonly nextToken = crypto.randomUUID();
  #link: Link | undefined;

  constructor() {
    mkdirSync(this.project);
    mkdirSync(this.home);
  }

  get home(): string {
    return join(this.folder, "home");
  }

  get project(): string {
    return join(this.folder, "project");
  }

  get logFile(): string {
    return join(this.folder, "log");
  }

  get log(): string {
    return readFileSync(this.logFile, "utf8");
  }

  get relay(): string[] {
    const env = isolatedEnv(this.home);
    const words = ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"].map(
      (name) => `${name}=${env[name]}`,
    );
    return ["/usr/bin/env", "-u", "CLAUDE_CONFIG_DIR", ...words, EXECUTABLE, "relay", "--stdio"];
  }

  link(relay: readonly string[] = this.relay, port?: number, silenceMs?: number): this {
    this.#link = new Link(
      {
        name: "dev",
        relay,
        mappings: [{ remote: this.project, host: this.project }],
        token: this.token,
        nextToken: this.nextToken,
        port,
      },
      {
        onState: (state) => void this.states.push(state),
        onChannel: (channel) => {
          this.channels.push(channel);
          channel.onMessage = (text) => channel.send(text);
        },
      },
      new Log({ file: this.logFile }),
      silenceMs,
    );
    void this.#link.start();
    return this;
  }

  get up() {
    return this.states.filter((state) => state.state === "up");
  }

  get causes(): string[] {
    return this.states.flatMap((state) => (state.state === "down" ? [state.cause] : []));
  }

  cause(): Promise<string> {
    return eventually("a cause", () => this.causes[0] ?? (false as const));
  }

  async lock(count = 1): Promise<Lock> {
    await eventually("the relay", () => this.up.length >= count);
    return this.locks()[0] as Lock;
  }

  locks(): Lock[] {
    const folder = join(this.home, ".claude/ide");
    return readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return {
        path,
        port: Number.parseInt(name, 10),
        content: JSON.parse(readFileSync(path, "utf8")),
      };
    });
  }

  open(kind: Kind, d: string): Channel {
    return this.#link?.open(kind, d) as Channel;
  }

  end(): void {
    this.#link?.end();
    this.#link = undefined;
  }

  [Symbol.dispose](): void {
    this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
