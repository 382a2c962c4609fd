import { expect, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEWEST } from "../support/neovim";
import { Project } from "./project";

test("the end of the first turn says which way of working the user is in, once", async () => {
  await using project = await Project.open(NEWEST, "{}", undefined, { width: 80, height: 24 });
  const lua = <T>(code: string) => project.neovim.lua<T>(code);
  const messages = () => lua<string>("return vim.fn.execute('messages')");
  await lua("require('port').session_hooks.AFTER_MS = 50");
  const turn = (permission_mode: string) =>
    project.stop({ session_id: "one", permission_mode, stop_hook_active: false });
  await turn("auto");
  // Whole in 80 columns.
  const text = "Claude edits without asking; other way: :help claude-code-two-ways";
  await eventually("the message", async () => (await messages()).includes(text));
  await project.neovim.command("messages clear");
  await turn("default");
  await lua("require('port').timer.once(50, function() PASSED = true end)");
  await eventually("its time", () => lua<boolean>("return PASSED or false"));
  expect(await messages()).toBe("");
});
