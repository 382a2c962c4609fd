/** Why an edit of files is not made, in sentences for Claude and the user. Nothing was changed. */
export class EditProblem extends Error {
  override readonly name = "EditProblem";

  constructor(sentences: string) {
    super(`Nothing was changed. ${sentences}`);
  }
}
