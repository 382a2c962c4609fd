--- The subcommands for git worktrees. The comment above each is its documentation.

---@param lead string
---@param before string
---@return string[]
local function complete(lead, before)
  local names = require("claude-code.editor.worktree").names()
  return before == "" and require("claude-code.commands.complete").starting_with(names, lead) or {}
end

---@param action? "show"|"home"|"remove" nil: the user chooses one
---@return fun(args: claude-code.CommandArgs)
local function runs(action)
  return function(args)
    require("claude-code.editor.worktree").with_named(vim.trim(args.args), function(tree)
      local worktree = require("claude-code.editor.worktree")
      if action then
        worktree[action](tree, args.bang)
      else
        worktree.choose_action(tree.path)
      end
    end)
  end
end

---@type table<string, claude-code.Subcommand>
return {
  --- Lets you choose what to do with a git worktree of this repository: show, bring home, remove.
  --- {name} is that of the worktree, or the number or name of a session in it. Without it, it is the one of
  --- the tab page or of the current session, or you choose one. See |claude-code-worktree|.
  worktree = { args = "[name]", complete = complete, run = runs() },

  --- Goes to the tab page whose folder is the worktree (|:tcd|), or opens one. Files that you open there have
  --- their language servers in the worktree, and `:Claude` is the session that runs there.
  ["worktree show"] = { args = "[name]", complete = complete, run = runs("show") },

  --- Brings home what the worktree changed since its branch point, or since it came home last, committed or
  --- not, and new files that are not ignored: each file is merged with the one here, and nothing is staged or
  --- committed. If one cannot be merged nothing changes, and the quickfix window lists why. With ! all that can
  --- be merged is: a conflict in a text gets git's markers, any other file of the list stays as it is here. What
  --- you have kept there is kept; the rest waits for `:Claude review` here, and there no longer.
  ["worktree home"] = { args = "[name]", bang = true, complete = complete, run = runs("home") },

  --- Removes the worktree with what git ignores in it; its branch stays. It is refused while something there
  --- is not committed, while it has commits that no other branch holds and that are not home, while a session,
  --- a terminal, a buffer or a window's folder is in it, and if git has it locked.
  ["worktree remove"] = { args = "[name]", complete = complete, run = runs("remove") },
}
