import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { unlessExists } from "../api/exists.ts";
import { invalidate } from "../api/query-client.ts";
import { software as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Note, Refusal } from "../ui/states.tsx";
import { ChooseModules } from "./choose-modules.tsx";
import { type Chosen, fitting, missingOf } from "./kinds.state.ts";
import { useKinds } from "./kinds.ts";

interface Named {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly description: string;
}

const empty: Named = { name: "", version: "", type: "", description: "" };
const lacks = ({ name, version, type }: Named) =>
  name.trim() === "" ? t.name : version.trim() === "" ? t.version : type === "" ? t.chooseType : undefined;
const bodyOf = ({ name, version, type, description }: Named) => ({
  name: name.trim(),
  version: version.trim(),
  type,
  ...(description.trim() === "" ? {} : { description: description.trim() }),
});

interface NamedFieldsProps {
  readonly value: Named;
  readonly edit: (part: Partial<Named>) => void;
  readonly types: readonly { readonly key: string; readonly name: string }[] | undefined;
}

function NamedFields({ value, edit, types = [] }: NamedFieldsProps) {
  return (
    <>
      <Field label={t.name} value={value.name} onChange={(name) => edit({ name })} maxLength={limits.name} autoFocus />
      <Field label={t.version} value={value.version} onChange={(version) => edit({ version })} maxLength={limits.version} />
      <Choice
        label={t.type}
        value={value.type}
        onChange={(type) => edit({ type })}
        options={[{ value: "", label: t.chooseType }, ...types.map(({ key, name }) => ({ value: key, label: name }))]}
      />
      <Field
        label={t.description}
        value={value.description}
        onChange={(description) => edit({ description })}
        maxLength={limits.description}
      />
    </>
  );
}

/** Makes a module, into which files are then put. */
export function NewModule({ close }: { close: () => void }) {
  const [value, setValue] = useState(empty);
  const navigate = useNavigate();
  const { data, error } = useQuery(ask(r.softwareModuleTypes.list, { query: { limit: 500, sort: "name:ASC" } }));
  const run = async () => {
    const [made] = await unlessExists(
      change(r.softwareModules.create, { body: [bodyOf(value)] }),
      t.moduleExists(value.name, value.version),
    );
    await navigate({ to: "/software/modules/$moduleId", params: { moduleId: String(made?.id) } });
    await invalidate("softwareModules");
  };
  return (
    <FormDialog open close={close} title={t.newModule} button={t.create} why={lacks(value)} run={run}>
      <Refusal error={error} />
      <NamedFields value={value} edit={(part) => setValue({ ...value, ...part })} types={data?.content} />
    </FormDialog>
  );
}

interface NewSetProps {
  readonly close: () => void;
  /** A module that it begins with, whose name and version it takes over. */
  readonly of?: Chosen & { readonly name: string; readonly version: string };
}

/** Makes a set of modules. Which it may hold is known when its type is. */
export function NewSet({ close, of }: NewSetProps) {
  const [value, setValue] = useState(of === undefined ? empty : { ...empty, name: of.name, version: of.version });
  const [modules, setModules] = useState<readonly Chosen[]>(of === undefined ? [] : [of]);
  const navigate = useNavigate();
  const { data, error } = useQuery(ask(r.distributionSetTypes.list, { query: { limit: 500, sort: "name:ASC" } }));
  const { kinds, error: unread } = useKinds(value.type);
  const held = kinds === undefined ? modules : fitting(modules, kinds);
  const missing = kinds === undefined ? [] : missingOf(kinds, held);
  const run = async () => {
    const body = [{ ...bodyOf(value), modules: held.map(({ id }) => ({ id })) }];
    const [made] = await unlessExists(change(r.distributionSets.create, { body }), t.setExists(value.name, value.version));
    await navigate({ to: "/software/sets/$setId", params: { setId: String(made?.id) } });
    await invalidate("distributionSets");
  };
  return (
    <FormDialog open close={close} title={t.newSet} button={t.create} why={lacks(value)} run={run}>
      <Refusal error={error ?? unread} />
      <NamedFields value={value} edit={(part) => setValue({ ...value, ...part })} types={data?.content} />
      {value.type === "" && <p className="muted">{t.typeFirst}</p>}
      {kinds !== undefined && <ChooseModules kinds={kinds} chosen={held} onChange={setModules} />}
      {of !== undefined && kinds !== undefined && fitting([of], kinds).length === 0 && (
        <Note tone="warn">{t.doesNotFit(`${of.name} ${of.version}`)}</Note>
      )}
      {missing.length > 0 && <p className="muted">{t.stillNeeds(missing.map(({ name }) => name).join(", "))}</p>}
    </FormDialog>
  );
}
