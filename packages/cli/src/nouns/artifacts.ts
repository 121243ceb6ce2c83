import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ArtifactView } from "@harrier/contracts";
import { text } from "../command.ts";
import { ExitError, exit, usage } from "../exit.ts";
import type { Column } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import { uploadFile } from "../upload.ts";
import { sha256Of } from "../upload-file.ts";
import { moduleEntity } from "./catalogue.ts";
import { noun } from "./entity.ts";

const columns: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "FILE", at: "providedFilename" },
  { head: "SIZE", at: "size" },
  { head: "SHA256", at: "hashes.sha256" },
  { head: "CREATED", at: "createdAt", wide: true, time: true },
];

const uploadColumns: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "STATUS", at: "status" },
  { head: "MODULE", at: "softwareModuleId" },
  { head: "FILE", at: "filename" },
  { head: "STORED", at: "offset" },
  { head: "SIZE", at: "size" },
  { head: "OPENED BY", at: "openedBy" },
  { head: "OPENED", at: "createdAt", wide: true, time: true },
  { head: "EXPIRES", at: "expiresAt", time: true },
];

/** Finds an artifact of a module by id or file name. */
async function findArtifact(session: Session, softwareModuleId: number, given: string): Promise<ArtifactView> {
  const all = await session.read(r.artifacts.list, { params: { softwareModuleId } });
  const found = all.find(({ id, providedFilename }) => providedFilename === given || String(id) === given);
  if (found === undefined) throw new ExitError(exit.notFound, `the module has no artifact ${given}`);
  return found;
}

async function download(session: Session, softwareModuleId: number, artifact: ArtifactView, to: string): Promise<void> {
  const client = await session.client();
  const params = { softwareModuleId, artifactId: artifact.id };
  const answer = await client.download(r.artifacts.download, { params, signal: session.signal });
  const hash = createHash("sha256");
  const part = `${to}.part`;
  await rm(part, { force: true }); // what is left of another download, or was put there, is neither gone on with nor followed
  try {
    const hashed = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(answer.body as never), hashed, createWriteStream(part, { flags: "wx" }));
    if (hash.digest("hex") !== artifact.hashes.sha256) throw new ExitError(exit.failed, `${to} arrived damaged`);
    await rename(part, to);
  } finally {
    await rm(part, { force: true });
  }
}

export const artifacts = noun(["artifact", "artifacts"], "Artifacts: the files of software modules", [
  {
    name: "list",
    summary: "List the artifacts of a module",
    args: "<module>",
    completes: [moduleEntity],
    run: async (session, [of = ""]) =>
      session.rows(await session.read(r.artifacts.list, { params: { softwareModuleId: await idOf(session, moduleEntity, of) } }), columns),
  },
  {
    name: "upload",
    summary: "Upload a file, and compare its hash with the server's; interrupted, the same command goes on",
    args: "<module> <file>",
    completes: [moduleEntity],
    writes: true,
    options: [
      ["--name <filename>", "the name that devices see; that of the file by default"],
      ["--sha256 <hash>", "what the file must be"],
      ["--if-absent", "succeed if the module has a file of this name and content already"],
    ],
    async run(session, [of = "", file = ""], options) {
      const softwareModuleId = await idOf(session, moduleEntity, of);
      const filename = text(options, "name") ?? basename(file);
      const expected = text(options, "sha256")?.toLowerCase();
      if (expected !== undefined && !/^[0-9a-f]{64}$/.test(expected)) throw usage("--sha256 has 64 hexadecimal digits");
      if (options["ifAbsent"]) {
        const there = (await session.read(r.artifacts.list, { params: { softwareModuleId } })).find(
          (one) => one.providedFilename === filename,
        );
        if (there !== undefined && there.hashes.sha256 === (await sha256Of(file))) return session.one(there, columns);
      }
      await session.one(await uploadFile(session, { softwareModuleId, file, filename, sha256: expected }), columns);
    },
  },
  {
    name: "download",
    summary: "Download an artifact, and compare its hash",
    args: "<module> <artifact>",
    completes: [moduleEntity],
    options: [["--to <file>", "where to; the name of the artifact by default"]],
    async run(session, [of = "", name = ""], options) {
      const softwareModuleId = await idOf(session, moduleEntity, of);
      const artifact = await findArtifact(session, softwareModuleId, name);
      // a name of the server must not lead out of this folder
      const given = text(options, "to");
      const to = given ?? basename(artifact.providedFilename);
      if (given === undefined && existsSync(to)) throw usage(`${to} is there already: say --to ${to} to replace it`);
      await download(session, softwareModuleId, artifact, to);
      session.note(`${to}: ${artifact.size} bytes, sha256 ${artifact.hashes.sha256}`);
    },
  },
  {
    name: "verify",
    summary: "Compare a file with an artifact; exit 7 if they differ",
    args: "<module> <artifact> <file>",
    completes: [moduleEntity],
    async run(session, [of = "", name = "", file = ""]) {
      const artifact = await findArtifact(session, await idOf(session, moduleEntity, of), name);
      if ((await sha256Of(file)) !== artifact.hashes.sha256)
        throw new ExitError(exit.differences, `${file} differs from ${artifact.providedFilename}`);
      session.note("equal");
    },
  },
  {
    name: "delete",
    summary: "Delete an artifact",
    args: "<module> <artifact>",
    completes: [moduleEntity],
    writes: true,
    destructive: true,
    async run(session, [of = "", name = ""]) {
      const softwareModuleId = await idOf(session, moduleEntity, of);
      const artifact = await findArtifact(session, softwareModuleId, name);
      await session.confirm(`Delete the artifact ${artifact.providedFilename}`);
      await session.write(r.artifacts.delete, { params: { softwareModuleId, artifactId: artifact.id } });
      session.note(`artifact ${artifact.providedFilename} is deleted`);
    },
  },
  {
    name: "uploads",
    summary: "List the uploads in parts of all modules that have not ended",
    run: async (session) => session.rows(await session.read(r.artifactUploads.list), uploadColumns),
  },
  {
    name: "cancel-upload",
    summary: "Give up an upload in parts, and remove its bytes",
    args: "<upload>",
    writes: true,
    destructive: true,
    async run(session, [uploadId = ""]) {
      const found = (await session.read(r.artifactUploads.list)).find(({ id }) => id === uploadId);
      if (found === undefined) throw new ExitError(exit.notFound, `there is no unfinished upload ${uploadId}`);
      if (found.status !== "open")
        throw new ExitError(exit.failed, `the upload of ${found.filename} has all its bytes, and becomes an artifact`);
      await session.confirm(`Give up the upload of ${found.filename}${found.openedBy === undefined ? "" : ` by ${found.openedBy}`}`);
      await session.write(r.artifactUploads.cancel, { params: { softwareModuleId: found.softwareModuleId, uploadId } });
      session.note(`the upload of ${found.filename} is given up`);
    },
  },
]);
