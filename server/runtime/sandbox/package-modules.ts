/** Modules of the interpreter with packages that the one without does not have. */
export const packageModules = [
  "numpy pandas scipy sklearn statsmodels matplotlib mpl_toolkits pylab seaborn openpyxl xlsxwriter",
  "xlrd PIL lxml bs4 html5lib pypdf reportlab fontTools sympy mpmath networkx narwhals patsy formulaic",
  "joblib threadpoolctl cloudpickle yaml tomli_w xmltodict defusedxml jinja2 markupsafe tabulate tqdm",
  "regex dateutil tzdata six attr attrs more_itertools toolz tlz typing_extensions wrapt",
  "charset_normalizer webencodings soupsieve contourpy cycler kiwisolver pyparsing packaging",
]
  .join(" ")
  .split(" ");
