import { expect } from "bun:test";
import { Editor } from "../../bench/plugins/editor";
import { setupOf } from "../../bench/plugins/setups";
import { eventually } from "../support/eventually";
import { NEWEST } from "../support/neovim";

/** A popup of a plugin lists the keys of a diff that just opened. */
export async function popupListsKeys(name: string): Promise<void> {
  await using editor = await Editor.start(NEWEST, setupOf(name));
  const rejected = editor.propose();
  await editor.shown();
  await editor.shows("accept");
  // The popup waits in getchar(), where Neovim answers no request: a timer records what it shows.
  await editor.neovim.lua(`
    vim.uv.new_timer():start(600, 0, vim.schedule_wrap(function()
      local texts = {}
      for _, win in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(win).relative ~= "" then
          local buf = vim.api.nvim_win_get_buf(win)
          vim.list_extend(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
        end
      end
      POPUP = table.concat(texts, "\\n")
      vim.api.nvim_input("<Esc>")
    end))`);
  await editor.neovim.request("nvim_input", ["g"]);
  const popup = await eventually("a popup", () =>
    editor.neovim.lua<string>("return POPUP or false"),
  );
  expect(popup).toContain("Accept this hunk");
  expect(popup).toContain("Drop this hunk");
  await editor.neovim.type("q");
  expect(await rejected).toBe("DIFF_REJECTED");
}
