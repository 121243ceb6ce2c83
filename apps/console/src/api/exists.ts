import { ApiError } from "./client.ts";

const exists = "hawkbit.server.error.repo.entityAlreadyExists";

/** Says in words of the console that what is to be made exists already; other refusals stay the server's. */
export function unlessExists<T>(made: Promise<T>, words: string): Promise<T> {
  return made.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.body.errorCode !== exists) throw error;
    throw new Error(words, { cause: error });
  });
}
