import { eventually } from "../support/eventually";
import type { Project } from "./project";

/** The names of the executable's calls. */
const COUNT = `
  local editor = require("port").dispatcher
  local call = editor.call
  _G.calls = {}
  editor.call = function(method, params)
    table.insert(_G.calls, method)
    return call(method, params)
  end`;

/** What programs of Claude ask a Neovim, from the start on or from the last `forget`. */
export class Calls {
  private constructor(private readonly project: Project) {}

  static async count(project: Project): Promise<Calls> {
    await project.neovim.lua(COUNT);
    return new Calls(project);
  }

  async forget(): Promise<void> {
    await this.project.neovim.lua("_G.calls = {}");
  }

  list(): Promise<string[]> {
    return this.project.neovim.lua<string[]>("return _G.calls");
  }

  async of(name: string): Promise<number> {
    return (await this.list()).filter((one) => one === name).length;
  }

  /** Waits until `count` programs wait for language servers. */
  async waiting(count = 1): Promise<void> {
    await eventually("who waits", async () => (await this.of("when_settled")) >= count);
  }
}
