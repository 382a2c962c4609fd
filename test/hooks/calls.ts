import { eventually } from "#test";
import type { Project } from "./project";

/** The names of the executable's calls, and the number of calls that have begun to wait. */
const COUNT = `
  local editor = require("port").dispatcher
  local call = editor.call
  _G.calls, _G.waiting = {}, 0
  editor.call = function(method, params)
    table.insert(_G.calls, method)
    local answer = call(method, params)
    -- Before that Neovim may do other things: a call from here would come too early.
    _G.waiting = _G.waiting + (method == "when_settled" and 1 or 0)
    return answer
  end`;

/** Calls of Claude's programs to a Neovim, since the start or the last `forget`. */
export class Calls {
  private constructor(private readonly project: Project) {}

  static async count(project: Project): Promise<Calls> {
    await project.neovim.lua(COUNT);
    return new Calls(project);
  }

  async forget(): Promise<void> {
    await this.project.neovim.lua("_G.calls, _G.waiting = {}, 0");
  }

  list(): Promise<string[]> {
    return this.project.neovim.lua<string[]>("return _G.calls");
  }

  async of(name: string): Promise<number> {
    return (await this.list()).filter((one) => one === name).length;
  }

  /** Waits until `count` programs wait for language servers. */
  async waiting(count = 1): Promise<void> {
    const begun = () => this.project.neovim.lua<number>("return _G.waiting");
    await eventually("who waits", async () => (await begun()) >= count);
  }
}
