import { createConnection, createServer, type Socket } from "node:net";
import { eventually, NEOVIMS, TestNeovim } from "#test";
import { Log } from "../../src/lib/log";
import { IS_WINDOWS, join } from "../../src/lib/platform";
import { CONTRACT, VERSION } from "../../src/lib/version";
import { NeovimEditor } from "../../src/neovim/editor";
import { NeovimRpc } from "../../src/neovim/rpc";

/** A proxy for Neovim's socket. While it holds messages, they accumulate, as on a busy machine. */
class Gate implements Disposable {
  holding = false;
  #gathered: Buffer[] = [];
  #client: Socket | undefined;
  readonly #server;

  constructor(
    readonly path: string,
    neovim: string,
  ) {
    this.#server = createServer((client) => {
      this.#client = client;
      const upstream = createConnection(neovim);
      client.pipe(upstream);
      upstream.on("data", (data: Buffer) => {
        this.#gathered.push(data);
        if (!this.holding) this.release();
      });
    }).listen(path);
  }

  /** The messages that it holds back. */
  get gathered(): Buffer {
    return Buffer.concat(this.#gathered);
  }

  /** All at once. */
  release(): void {
    this.holding = false;
    this.#client?.write(this.gathered);
    this.#gathered = [];
  }

  [Symbol.dispose](): void {
    this.#client?.destroy();
    this.#server.close();
  }
}

test.each(NEOVIMS)("delivers an answer before what $name pushed after it", async (version) => {
  await using neovim = await TestNeovim.start({ version, setup: false });
  // The selection is pushed as well, and names the file, too.
  await neovim.lua(`require("port").config.setup({ selection = { send = "none" } })`);
  const address = await neovim.lua<string>("return vim.v.servername");
  using gate = new Gate(IS_WINDOWS ? `${address}-gate` : join(neovim.home, "gate"), address);
  const rpc = await NeovimRpc.connect(gate.path);
  const editor = new NeovimEditor(rpc, new Log());
  await editor.attach({ contract: CONTRACT, version: VERSION });

  gate.holding = true;
  await neovim.command("file answered.txt");
  const synced = editor.sync(5_000);
  await eventually("the answer", () => gate.gathered.includes("answered.txt"));
  await neovim.command("file pushed.txt");
  await eventually("the push", () => gate.gathered.includes("pushed.txt"));
  gate.release();
  await synced;
  // Its answer comes after both.
  await rpc.request("nvim_get_mode", []);
  expect(editor.state.buffers.map(({ path }) => path)).toContain(join(neovim.cwd, "pushed.txt"));
  rpc.close();
});
