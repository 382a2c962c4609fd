/** Why an edit of files cannot be made: a sentence for Claude and the user. Nothing was changed. */
export class EditProblem extends Error {
  override readonly name = "EditProblem";
}
