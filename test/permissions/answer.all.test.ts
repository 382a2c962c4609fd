import { expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEWEST } from "../support/neovim";
import { BASH, Editor } from "./editor";

/* What the hook by which the user answers Claude in Neovim looks at every few seconds. */

test("a CLI that is killed ends it", async () => {
  const editor = await Editor.start(NEWEST);
  await editor.block();
  const output = editor.hook(BASH);
  await editor.wait();
  editor.cli.kill("SIGKILL");
  expect(await output).toBeUndefined();
  // Neovim learns of the hook's end a moment later.
  await eventually("no request", async () => (await editor.requests()).length === 0);
  await editor.end();
});

test("a Neovim that is busy is asked again", async () => {
  const editor = await Editor.start(NEWEST);
  await editor.block();
  editor.neovim.process.kill("SIGSTOP");
  const output = editor.hook(BASH);
  await Bun.sleep(2_000);
  editor.neovim.process.kill("SIGCONT");
  const { id } = await editor.wait();
  await editor.answer(id, "{ allow = true }");
  expect(await output).toEqual({ behavior: "allow" });
  await editor.end();
});
