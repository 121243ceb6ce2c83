import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { ask, r } from "../api/client.ts";
import { quoted } from "../fiql/complete.ts";
import { software as t } from "../text/en.ts";
import { Check } from "../ui/field.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { type Chosen, isFull, type Kind, type Kinds, withModule } from "./kinds.state.ts";
import style from "./software.module.css";

/** So many modules of a type are offered, the newest first. */
const offered = 100;

interface ChooseModulesProps {
  readonly kinds: Kinds;
  readonly chosen: readonly Chosen[];
  readonly onChange: (chosen: readonly Chosen[]) => void;
}

/** The modules that a type of sets takes, by their types: those that it needs come first. */
export function ChooseModules({ kinds: { mandatory, optional }, ...rest }: ChooseModulesProps) {
  return (
    <>
      {mandatory.map((kind) => (
        <OfKind key={kind.key} kind={kind} needed {...rest} />
      ))}
      {optional.map((kind) => (
        <OfKind key={kind.key} kind={kind} {...rest} />
      ))}
    </>
  );
}

interface OfKindProps extends Omit<ChooseModulesProps, "kinds"> {
  readonly kind: Kind;
  readonly needed?: boolean;
}

function OfKind({ kind, needed = false, chosen, onChange }: OfKindProps) {
  const group = useId();
  const { key, name, maxAssignments } = kind;
  const query = { q: `type==${quoted(key)}`, limit: offered, sort: "id:DESC" };
  const { data, error, refetch } = useQuery(ask(r.softwareModules.list, { query }));
  const one = maxAssignments === 1;
  const none = !chosen.some(({ type }) => type === key);
  const full = !one && isFull(kind, chosen);
  return (
    <fieldset className={style["checks"]}>
      <legend>{t.kindOf(name, needed, one)}</legend>
      {data === undefined && (error === null ? <Skeleton lines={2} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data?.content.length === 0 && <p className="muted">{t.noneOfKind}</p>}
      {one && !needed && data !== undefined && data.content.length > 0 && (
        <Check label={t.noneChosen} one={group} checked={none} onChange={() => onChange(chosen.filter(({ type }) => type !== key))} />
      )}
      {data?.content.map((module) => {
        const checked = chosen.some(({ id }) => id === module.id);
        return (
          <Check
            key={module.id}
            label={`${module.name} ${module.version}`}
            one={one ? group : undefined}
            checked={checked}
            disabled={full && !checked}
            onChange={(on) => onChange(withModule(chosen, kind, module.id, on))}
          />
        );
      })}
    </fieldset>
  );
}
