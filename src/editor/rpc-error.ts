import { ErrorCode, RpcError } from "../jsonrpc/message";
import { EditorBusyError, EditorRefusal } from "./port";

/** What the editor says in words reaches the client in words, also where no tool result is due. */
export function rethrow(error: unknown): never {
  if (error instanceof EditorBusyError) throw new RpcError(ErrorCode.EditorBusy, error.message);
  if (error instanceof EditorRefusal) throw new RpcError(ErrorCode.EditorRefused, error.message);
  throw error;
}
