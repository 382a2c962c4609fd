/**
 * Runs a method of the plugin's. Rejects with EditorBusyError (without an answer after `deadlineMs`),
 * EditorRefusal, or an error of the connection.
 */
export type AskNeovim = (method: string, params: object, deadlineMs?: number) => Promise<unknown>;
