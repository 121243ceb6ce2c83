import type { PermissionInfoView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Asked, ask, r, type Tagged } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { common, people as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen } from "../ui/edited.tsx";
import { Check } from "../ui/field.tsx";
import { Failure } from "../ui/states.tsx";
import { bodyOf, editsOf, type GrantEdits, type Grants, grantsOf, withEdits, withPermission, withScope } from "./grants.state.ts";
import style from "./settings.module.css";

type Answer = Parameters<typeof grantsOf>[0];

interface MatrixDialogProps {
  readonly name: string;
  readonly asked: Asked<Tagged<Answer>>;
  /** Why nothing can be changed. */
  readonly why?: string | undefined;
  readonly save: (body: ReturnType<typeof bodyOf>, tag: string | undefined) => Promise<unknown>;
  readonly close: () => void;
}

/** The permissions of a user or of a role, by area. */
export function MatrixDialog({ asked, ...rest }: MatrixDialogProps) {
  return (
    <Reading asked={asked} title={t.permissionsOf(rest.name)} close={rest.close}>
      {(seen) => <Known seen={seen} {...rest} />}
    </Reading>
  );
}

function Known({ seen, name, why, save, close }: Omit<MatrixDialogProps, "asked"> & { seen: Seen<Answer> }) {
  const [edits, setEdits] = useState<GrantEdits>({});
  const all = useQuery({ ...ask(r.permissions.list), staleTime: 600_000 });
  const held = grantsOf(seen.body);
  const grants = withEdits(held, edits);
  // A dialog that opens before its boxes are there has the focus at its end, and stays scrolled to it.
  if (all.isPending) return null;
  const nothing = Object.keys(editsOf(held, grants)).length === 0 ? common.nothingChanged : undefined;
  return (
    <FormDialog
      open
      wide
      close={close}
      title={t.permissionsOf(name)}
      text={t.permissionsText}
      button={common.save}
      why={why ?? nothing}
      run={() => save(bodyOf(grants), seen.tag)}
      again={seen.again}
    >
      {all.error !== null && <Failure error={all.error} retry={() => void all.refetch()} />}
      {all.data !== undefined && <Matrix all={all.data} grants={grants} edit={(next) => setEdits(editsOf(held, next))} />}
    </FormDialog>
  );
}

interface MatrixProps {
  readonly all: readonly PermissionInfoView[];
  readonly grants: Grants;
  readonly edit: (grants: Grants) => void;
}

function Matrix({ all, grants, edit }: MatrixProps) {
  const areas = [...new Set(all.map(({ area }) => area))];
  return areas.map((area) => (
    <fieldset key={area} className={style["area"]}>
      <legend>{t.areas[area] ?? area}</legend>
      {all
        .filter((row) => row.area === area)
        .map((row) => (
          <One key={row.name} row={row} grants={grants} edit={edit} />
        ))}
    </fieldset>
  ));
}

function One({ row: { name, text, targetRelated, implies }, grants, edit }: Omit<MatrixProps, "all"> & { row: PermissionInfoView }) {
  const on = Object.hasOwn(grants, name);
  const hint = [name, implies.length > 0 ? t.implies(implies.join(", ")) : ""].filter(Boolean).join(" · ");
  return (
    <div>
      <Check label={text} hint={hint} checked={on} onChange={(next) => edit(withPermission(grants, name, next))} />
      {on && targetRelated && <Scopes name={name} grants={grants} edit={edit} />}
    </div>
  );
}

/** The device types that a permission may be restricted to; whoever may not read them leaves the restriction as it is. */
function Scopes({ name, grants, edit }: Omit<MatrixProps, "all"> & { name: string }) {
  const readable = useLacking(r.targetTypes.list) === undefined;
  const { data } = useQuery({ ...ask(r.targetTypes.list, { query: { limit: 100, sort: "name:ASC" } }), enabled: readable });
  const scopes = grants[name];
  if (data === undefined || data.content.length === 0) return null;
  return (
    <fieldset className={style["area"]}>
      <legend>{t.scopeOf(name)}</legend>
      <div className={style["scopes"]}>
        <Check label={t.allTypes} checked={scopes === null} onChange={(all) => edit({ ...grants, [name]: all ? null : [] })} />
        {data.content.map((type) => (
          <Check
            key={type.id}
            label={type.name}
            checked={scopes?.includes(type.id) ?? false}
            onChange={(on) => edit(withScope(grants, name, type.id, on))}
          />
        ))}
      </div>
    </fieldset>
  );
}
