/** Methods of the requests of HTTP tools. */
export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** Where an argument stands in a request, as in OpenAPI. */
export const parameterPlaces = ["path", "query", "header", "cookie"] as const;
type ParameterPlace = (typeof parameterPlaces)[number];

/** How a list or an object is written, as in OpenAPI; `json`: as JSON. */
export const parameterStyles = [
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
  "json",
] as const;
type ParameterStyle = (typeof parameterStyles)[number];

/** Styles that a place may have; the first is the default. */
export const stylesOf: Record<ParameterPlace, readonly ParameterStyle[]> = {
  path: ["simple", "label", "matrix", "json"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject", "json"],
  header: ["simple", "json"],
  cookie: ["form", "json"],
};

/** True if each item of a list is written by itself, unless the parameter says otherwise. */
export const isExploded = (style: ParameterStyle): boolean => style === "form" || style === "deepObject";

/** An argument that becomes a parameter of the request. */
export interface RequestParameter {
  /** Name of the argument. */
  argument: string;
  /** Name in the request; absent: that of the argument. */
  name?: string;
  in: ParameterPlace;
  style?: ParameterStyle;
  explode?: boolean;
  /** True if reserved characters such as `/` are sent as they are. */
  allow_reserved?: boolean;
}

export const bodyTypes = ["json", "form", "multipart", "text", "file"] as const;
type BodyType = (typeof bodyTypes)[number];

/** An argument that becomes a field of the body. */
export interface RequestField {
  argument: string;
  name?: string;
  /** Of forms only. */
  style?: ParameterStyle;
  explode?: boolean;
  /** True if the argument names a file of the run, or is a list of such names. Of `multipart` only. */
  file?: boolean;
}

/** Body of a request: one argument, or an object of several. */
export interface RequestBody {
  type: BodyType;
  /** Absent: that of the type. */
  content_type?: string;
  /** Argument that is the whole body. */
  argument?: string;
  /** Arguments that are its fields. */
  fields?: RequestField[];
}

/** How a tool's arguments become its request. Arguments that it does not name are not sent. */
export interface RequestMapping {
  parameters: RequestParameter[];
  /** Null: the request has no body. */
  body: RequestBody | null;
}

/** Operation of an OpenAPI document that a tool was imported from. */
export interface OpenApiOrigin {
  /** Address or name of the document. */
  source: string;
  /** Hash of the document, in hexadecimal. */
  sha256: string;
  /** Method and path, such as `GET /pets/{id}`. */
  operation: string;
  operation_id: string | null;
  /** Hash of the fields that the import set. */
  fields_sha256: string;
}

/** Arguments that a mapping names. */
export const argumentsOf = ({ parameters, body }: RequestMapping): string[] => [
  ...parameters.map(({ argument }) => argument),
  ...(body?.argument === undefined ? [] : [body.argument]),
  ...(body?.fields ?? []).map(({ argument }) => argument),
];

/** Files that one call sends, all together. */
export const uploadMost_bytes = 20 * 1024 * 1024;
