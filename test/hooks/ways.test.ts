import { expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEWEST } from "../support/neovim";
import { Project } from "./project";

test("the end of the first turn says which way of working the user is in, once", async () => {
  await using project = await Project.open(NEWEST);
  const messages = () => project.neovim.lua<string>("return vim.fn.execute('messages')");
  const turn = (permission_mode: string) =>
    project.stop({ session_id: "one", permission_mode, stop_hook_active: false });
  await turn("auto");
  const text =
    'Claude edits without asking here, and :Claude review shows what it changed (mode "auto")';
  await eventually("the message", async () => (await messages()).includes(text));
  await project.neovim.command("messages clear");
  await turn("default");
  expect(await messages()).toBe("");
});
