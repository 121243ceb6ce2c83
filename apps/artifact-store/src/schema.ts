import { fileURLToPath } from "node:url";

/** The schema of the service, and the folder that contains its migrations, functions and views beside `src` and `dist`. */
export const ownSchema = { schema: "artifact_store", folder: fileURLToPath(new URL("..", import.meta.url)) } as const;
