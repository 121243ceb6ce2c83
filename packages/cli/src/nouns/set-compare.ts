import type { ResponseOf } from "@harrier/contracts";
import type { Verb } from "../command.ts";
import { ExitError, exit } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import { idOf, type Kind } from "../resolve.ts";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";

type Modules = ResponseOf<typeof r.distributionSets.listModules>["content"];

/** The files of a set by type of module and name: module with version, and SHA-256. */
async function filesOf(session: Session, distributionSetId: number): Promise<Map<string, string>> {
  const modules: Modules = [];
  for await (const module of session.list(r.distributionSets.listModules, { all: true }, { params: { distributionSetId } }))
    modules.push(module as Modules[number]);
  const files = new Map<string, string>();
  await Promise.all(
    modules.map(async ({ id, type, name, version }) => {
      files.set(type, `${name}:${version}`);
      const artifacts = await session.read(r.artifacts.list, { params: { softwareModuleId: id } });
      for (const { providedFilename, hashes } of artifacts) files.set(`${type} ${providedFilename}`, hashes.sha256);
    }),
  );
  return files;
}

/** Compares two sets by their modules and the hashes of their files; exit 7 where they differ. */
export const compareVerb = (set: Kind): Verb => ({
  name: "compare",
  summary: "Compare the modules and files of two sets: exit 0 they are alike, 7 they differ",
  args: "<a> <b>",
  completes: [set, set],
  async run(session, [first = "", second = ""]) {
    const [a, b] = await Promise.all(
      [first, second].map(async (name) => filesOf(session, await idOf(session, set, name))) as [
        Promise<Map<string, string>>,
        Promise<Map<string, string>>,
      ],
    );
    const rows = [...new Set([...a.keys(), ...b.keys()])]
      .sort()
      .map((what) => ({ what, first: a.get(what), second: b.get(what), same: a.get(what) === b.get(what) }));
    await session.rows(rows, columnsOf("what", "first", "second", "same"));
    const different = rows.filter(({ same }) => !same).length;
    if (different > 0) throw new ExitError(exit.differences, `${different} of ${rows.length} differ`);
  },
});
