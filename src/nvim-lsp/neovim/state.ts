import * as v from "valibot";
import { Delta } from "../../editor/model";
import { EditorState } from "../../editor/state";
import type { FollowedNeovim } from "../../locate/followed";
import type { MethodEditor } from "../../methods";
import { Queries } from "../../neovim/queries";

/** The editor's state from whichever Neovim is followed, asked for each time. */
export class NeovimState extends Queries implements MethodEditor {
  constructor(private readonly neovim: FollowedNeovim) {
    super();
  }

  async sync(): Promise<EditorState> {
    const state = new EditorState();
    state.apply({ ...v.parse(Delta, await this.call("snapshot", {})), full: true } as Delta);
    return state;
  }

  call(method: string, params: object): Promise<unknown> {
    return this.neovim.ask(method, params);
  }
}
