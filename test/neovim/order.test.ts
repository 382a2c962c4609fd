import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { decodeMultiStream, encode } from "@msgpack/msgpack";
import { Log } from "../../src/lib/log";
import { NeovimEditor } from "../../src/neovim/editor";
import { NeovimRpc } from "../../src/neovim/rpc";
import { temporaryFolder } from "../support/neovim";

/** Answers each request and pushes something newer in the same write, as a socket may join them. */
function pushBehindEachAnswer(path: string) {
  const folders = (name: string) => ({ folders: [`/${name}`] });
  return createServer(async (socket) => {
    for await (const message of decodeMultiStream(socket as never)) {
      const [, id] = message as [number, number];
      const answer = encode([1, id, null, { value: folders("answered") }]);
      const push = encode([2, "claude_code", ["state", folders("pushed")]]);
      socket.write(Buffer.concat([answer, push]));
    }
  }).listen(path);
}

test("an answer does not overtake what Neovim pushed after it", async () => {
  const folder = temporaryFolder();
  const server = pushBehindEachAnswer(join(folder, "nvim"));
  const rpc = await NeovimRpc.connect(join(folder, "nvim"));
  const editor = new NeovimEditor(rpc, new Log());
  await editor.sync();
  await Bun.sleep(20);
  expect(editor.state.folders).toEqual(["/pushed"]);
  rpc.close();
  server.close();
  rmSync(folder, { recursive: true });
});
