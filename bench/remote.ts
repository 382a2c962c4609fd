import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../test/support/eventually";
import { isolatedEnv } from "../test/support/neovim";
import { BareServer } from "./bare-server";
import { Editor, lockFiles, resident } from "./editor";
import { RawClient } from "./raw-client";
import { repetitions, type Scenario } from "./scenario";
import { median, timings } from "./statistics";

const CALLS = 400;
const BIG_CALLS = 20;
const BIG = "some text of a file, ".repeat(2_000_000 / 21);
/** A second at rest before memory is read: what the start left behind may be given back. */
const REST_MS = 1_000;

/** What a relay costs: a client beside it, and the same one without it. */
export const remote: Scenario = {
  name: "remote",

  async floor(machine) {
    await using server = await BareServer.start(machine.bare);
    await server.echo();
    await Bun.sleep(REST_MS);
    return { "memory-relay": server.memory };
  },

  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    await using editor = await Editor.start(machine.nvim, subject);
    using _client = await editor.setUp(subject);
    using here = await RawClient.open(await editor.nvim.lock());
    const relay = await startRelay(editor, subject.hook);
    using there = await RawClient.open(relay.lock);
    await Bun.sleep(REST_MS);
    const memory = resident(relay.pid);
    const path = join(editor.nvim.cwd, "a.txt");
    const trip = async (client: RawClient) => {
      const call = () => client.call("checkDocumentDirty", { filePath: path });
      await timings(CALLS / 10, call);
      return median(await timings(repetitions(machine, CALLS), call));
    };
    // More than is shown as a diff: it is refused, once all of it has been read.
    const proposal = { old_file_path: path, new_file_path: path, tab_name: "a" };
    const big = async (client: RawClient) => {
      const call = () => client.call("openDiff", { ...proposal, new_file_contents: BIG });
      return median(await timings(repetitions(machine, BIG_CALLS), call));
    };
    const still = (client: RawClient) =>
      editor.watched(() => timings(BIG_CALLS, () => client.request("ping", { text: BIG })));
    const [direct, relayed] = [await still(here), await still(there)];
    return {
      values: {
        "remote-trip": await trip(there),
        "remote-diff": await big(there),
        "remote-still": Math.max(0, relayed.longest - direct.longest),
        "remote-cpu": Math.max(0, relayed.cpu - direct.cpu),
        "memory-relay": memory,
        "memory-relay-after": resident(relay.pid),
      },
      floors: { "remote-trip": await trip(here), "remote-diff": await big(here) },
    };
  },
};

/** In a home of its own, as in a container. */
async function startRelay({ nvim }: Editor, executable: string) {
  const home = join(nvim.home, "there");
  mkdirSync(home);
  const { XDG_STATE_HOME, XDG_RUNTIME_DIR } = isolatedEnv(home);
  const words = [`HOME=${home}`, `XDG_STATE_HOME=${XDG_STATE_HOME}`];
  const env = ["/usr/bin/env", ...words, `XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR}`];
  await nvim.lua(
    `require("claude-code").setup({ terminal = { remote = "there" }, remotes = { there = {
       command = { "/bin/sh", "-c", "exec cat", "{env}", "{args}" }, relay = ... } } })
     vim.cmd("Claude") vim.cmd("stopinsert | wincmd p")`,
    [...env, executable, "relay", "--stdio"],
  );
  const folder = join(home, ".claude/ide");
  const name = await eventually("the relay", () => lockFiles(folder)[0] ?? (false as const));
  const content = JSON.parse(readFileSync(join(folder, name), "utf8")) as { authToken: string };
  const server = await nvim.lua<number>(`return require("claude-code.server").process.pid`);
  const { stdout } = Bun.spawnSync(["pgrep", "-P", String(server), "-f", "relay --stdio"]);
  return { pid: Number(stdout.toString()), lock: { port: Number.parseInt(name, 10), content } };
}
