/** An error that the user can fix. Its message is one line that names the setting or the thing and what is wrong with it. */
export class StartError extends Error {
  override readonly name = "StartError";
}
