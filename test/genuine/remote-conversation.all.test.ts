import { join } from "../../src/lib/platform";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { read } from "../support/turns";
import { eventually } from "./eventually";
import { InRemote } from "./remote";

requireNamespace();

describe("the conversation of a Claude in a container", () => {
  const claude = InRemote.inBlock({ at: Container.PROJECT, by: "exec" });

  const { lua, lines } = claude;
  const name = () => lua<string>("return vim.api.nvim_buf_get_name(0)");
  const other = join(Container.PROJECT, "other.lua");

  test("is shown, and read again, with local files", async () => {
    await claude.begin();
    claude.model.script([read(other), [{ text: `See ${other}:1 and /etc/passwd` }]]);
    await claude.send("look");
    await claude.showing(/See /);
    // The CLI writes an answer a moment after it has shown it.
    const reads = async (said: string) => {
      await claude.command("Claude transcript");
      return (await lines()).includes(said);
    };
    await eventually(() => reads(`See ${other}:1 and /etc/passwd`), true);
    await eventually(async () => (await lines())[0], "❯ look");
    claude.model.script([[{ text: "Once more." }]]);
    await claude.send("again");
    await claude.showing(/Once more/);
    await eventually(() => reads("Once more."), true);
  });

  test("opens the place of a line, but only in shared files", async () => {
    const enter = (text: string) =>
      lua(`
        vim.cmd("stopinsert")
        vim.fn.search([[\\V${text}]], "w")
        vim.api.nvim_feedkeys(vim.keycode("<CR>"), "m", false)
        return true`);
    const shown = await name();
    await enter("/etc/passwd");
    await claude.says("this line names no file");
    expect(await name()).toBe(shown);
    await enter(`${other}:1`);
    await eventually(name, claude.path("other.lua"));
    expect(await lua("return vim.fn.line('.')")).toBe(1);
    await claude.command("Claude trail session");
    const listed = `return vim.tbl_map(function(item)
        return vim.api.nvim_buf_get_name(item.bufnr)
      end, vim.fn.getqflist())`;
    await eventually(() => lua<string[]>(listed), [claude.path("other.lua")]);
  });
});
