import type { MethodName, Params, Result } from "../../editor/methods";
import type { Delta } from "../../editor/model";
import { EditorState } from "../../editor/state";
import type { FollowedNeovim } from "../../locate/followed";
import type { MethodEditor } from "../../methods";
import { checked } from "../../neovim/editor";

/** The editor's state from whichever Neovim is followed, asked for each time. */
export class NeovimState implements MethodEditor {
  constructor(private readonly neovim: FollowedNeovim) {}

  async sync(): Promise<EditorState> {
    const state = new EditorState();
    state.apply({ ...(await this.call("snapshot", {})), full: true } as Delta);
    return state;
  }

  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return checked(method, () => this.neovim.ask(method, params));
  }
}
