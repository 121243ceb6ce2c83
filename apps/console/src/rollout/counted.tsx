import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { rollout as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import style from "./rollout.module.css";
import { besideConditions } from "./rollout.state.ts";

interface CountedProps {
  /** The query of the updates that it counts; undefined where none names them. */
  readonly q: string | undefined;
  /** What is read out, where the number alone does not say it. */
  readonly label?: string;
  readonly children: ReactNode;
}

/** A number that leads to the updates that it counts, for whoever may see them. */
export function Counted({ q, label, children }: CountedProps) {
  const may = useLacking(r.actions.list) === undefined;
  if (q === undefined || !may) return <>{children}</>;
  return (
    <Link to="/actions" search={{ q }} className={style["counted"]} aria-label={label}>
      {children}
    </Link>
  );
}

interface BesideProps {
  readonly counts: Readonly<Record<keyof typeof besideConditions, number>> | undefined;
  /** The condition of the rollout or of the group. */
  readonly of: string;
}

/** What a safety policy counts beside the status: who is silent, proves itself, or waits for the next attempt. */
export function Beside({ counts, of }: BesideProps) {
  const some = Object.entries(besideConditions).filter(([name]) => (counts?.[name as keyof typeof besideConditions] ?? 0) > 0);
  if (counts === undefined || some.length === 0) return null;
  return (
    <span className={style["beside"]}>
      {some.map(([name, condition]) => (
        <Counted key={name} q={`${of};${condition}`}>
          <span className={style["figure"]} data-beside={name}>
            <b className="num">{count(counts[name as keyof typeof besideConditions])}</b>
            {t.beside[name]}
          </span>
        </Counted>
      ))}
    </span>
  );
}
