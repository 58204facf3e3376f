"""What people look at: interactive pages, pictures for print, plots, and notebook output."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.viewing.drawing import Picture as Picture
    from pdfalearn.viewing.drawing import draw as draw
    from pdfalearn.viewing.page import Page as Page
    from pdfalearn.viewing.views import view as view

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.viewing.drawing import check_picture as check_picture
    from pdfalearn.viewing.drawing import default_picture as default_picture
    from pdfalearn.viewing.notebooks import pdfa_bundle as pdfa_bundle
    from pdfalearn.viewing.notebooks import tree_bundle as tree_bundle
    from pdfalearn.viewing.notebooks import value_html as value_html
    from pdfalearn.viewing.page import Markup as Markup
    from pdfalearn.viewing.page import document as document
    from pdfalearn.viewing.page import element as element
    from pdfalearn.viewing.page import image as image
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
